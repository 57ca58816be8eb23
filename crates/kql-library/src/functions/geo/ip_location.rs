//! `geo_info_from_ip_address` (`docs/semantics.md §27`).

use std::net::IpAddr;

use hindsight_kql_types::Encoder;

use crate::addresses::AddressLocation;
use crate::functions::prelude::*;
use crate::work::CancellationToken;

pub(crate) static DEF: ScalarFunction = function(
    &["geo_info_from_ip_address(ip: string) -> dynamic"],
    "Where an IPv4 or IPv6 address is, by the database of the setting `geo.database`: a bag with country, state, city, latitude and longitude, as far as \
     they are known. Null if the text is not an address.",
    ResultName::None,
    &[example(
        "print d = geo_info_from_ip_address('20.53.203.50')",
        "d:dynamic\n{\"country\":\"Australia\",\"state\":\"New South Wales\",\"city\":\"Sydney\",\"latitude\":-33.8672,\"longitude\":151.1997}",
    )],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let texts = args.strings(0)?;
    let token = CancellationToken::current();
    let database = token.addresses();
    let mut encoder = Encoder::new();
    let mut failure = None;
    let result = args.collect_dynamics(|row, out| {
        let Ok(address) = texts.get(row).trim().parse::<IpAddr>() else {
            return false;
        };
        // An IPv6 address that maps an IPv4 address is where that is.
        let location = database.map(|database| database.location(address.to_canonical()));
        match location.transpose() {
            Ok(location) => write(&location.unwrap_or_default(), &mut encoder),
            Err(error) => {
                failure.get_or_insert(error);
                return false;
            }
        }
        encoder.finish_into(out);
        true
    });
    match failure {
        Some(error) => Err(KernelError::Failed(format!(
            "geo_info_from_ip_address(): {error}"
        ))),
        None => Ok(result),
    }
}

/// Writes what is known of a location.
fn write(location: &AddressLocation<'_>, out: &mut Encoder) {
    out.begin_bag();
    let names = [
        ("country", location.country),
        ("state", location.state),
        ("city", location.city),
    ];
    for (key, name) in names {
        if let Some(name) = name {
            out.key(key);
            out.string(name);
        }
    }
    let degrees = [
        ("latitude", location.latitude),
        ("longitude", location.longitude),
    ];
    for (key, degrees) in degrees {
        if let Some(degrees) = degrees {
            out.key(key);
            out.real(degrees);
        }
    }
    out.end();
}
