//! A local authority made for this machine, and certificates by it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::files;

/// Days that the local authority is good for.
const AUTHORITY_DAYS: i64 = 3650;
/// Days that a certificate is good for; one is made at each start.
const CERTIFICATE_DAYS: i64 = 397;

/// The local authority of a data folder, and a fresh certificate by it for this machine. The certificate's key is never
/// written down; the authority's is, for this user only, and it can vouch for nothing but this machine.
pub(super) fn development(
    data: &Path,
    now: Timestamp,
) -> anyhow::Result<(
    PathBuf,
    Vec<CertificateDer<'static>>,
    PrivateKeyDer<'static>,
)> {
    let folder = data.join("tls");
    let (certificate, key) = (folder.join("ca.pem"), folder.join("ca-key.pem"));
    if !certificate.exists() || !key.exists() {
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        make_authority(&certificate, &key, now)?;
    }
    let pem =
        std::fs::read_to_string(&key).with_context(|| format!("cannot read {}", key.display()))?;
    let pair = KeyPair::from_pem(&pem)
        .with_context(|| format!("{} does not contain a private key", key.display()))?;
    let issuer = Issuer::new(authority(&pair, now)?, pair);
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut parameters = CertificateParams::new(names)?;
    parameters
        .distinguished_name
        .push(DnType::CommonName, "localhost");
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    parameters.use_authority_key_identifier_extension = true;
    valid_for(&mut parameters, now, CERTIFICATE_DAYS)?;
    let pair = KeyPair::generate()?;
    let signed = parameters.signed_by(&pair, &issuer)?;
    let key = PrivateKeyDer::try_from(pair.serialize_der())
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let root = std::fs::read(&certificate)
        .with_context(|| format!("cannot read {}", certificate.display()))?;
    let chain = std::iter::once(signed.der().clone()).chain(files::chain(&root, &certificate)?);
    Ok((certificate, chain.collect(), key))
}

fn make_authority(certificate: &Path, key: &Path, now: Timestamp) -> anyhow::Result<()> {
    let pair = KeyPair::generate()?;
    let signed = authority(&pair, now)?.self_signed(&pair)?;
    crate::private_file::write(key, &pair.serialize_pem())?;
    std::fs::write(certificate, signed.pem())
        .with_context(|| format!("cannot write {}", certificate.display()))
}

/// The authority's certificate but for its signature. Its name follows from its key, so that it can be told from others
/// and is the same at each start.
fn authority(pair: &KeyPair, now: Timestamp) -> anyhow::Result<CertificateParams> {
    let mut parameters = CertificateParams::default();
    let digest = hindsight_identity::secret::hash(&pair.public_key_pem());
    let mark: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let name = format!("Hindsight local authority {mark}");
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let loopback = std::net::Ipv6Addr::LOCALHOST;
    // Whoever steals the key can pretend to be this machine to this machine, and nothing else.
    parameters.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![
            GeneralSubtree::DnsName("localhost".to_owned()),
            GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix([127, 0, 0, 0], 8)),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(loopback.into(), 128)),
        ],
        excluded_subtrees: Vec::new(),
    });
    valid_for(&mut parameters, now, AUTHORITY_DAYS)?;
    Ok(parameters)
}

/// From the day before `now`, because clocks differ.
fn valid_for(parameters: &mut CertificateParams, now: Timestamp, days: i64) -> anyhow::Result<()> {
    let date = |days: i64| -> anyhow::Result<_> {
        let at = now.checked_add(SignedDuration::from_hours(24 * days))?;
        let date = at.to_zoned(TimeZone::UTC).date();
        let (month, day) = (u8::try_from(date.month())?, u8::try_from(date.day())?);
        Ok(rcgen::date_time_ymd(i32::from(date.year()), month, day))
    };
    parameters.not_before = date(-1)?;
    parameters.not_after = date(days)?;
    Ok(())
}

/// What to do so that clients of this machine trust the local authority.
pub(crate) fn how_to_trust(authority: &Path) -> String {
    let path = std::path::absolute(authority).unwrap_or_else(|_| authority.to_owned());
    let path = path.display();
    format!(
        "  authority    {path}\n\n  Let clients of this machine trust it:\n\n  export REQUESTS_CA_BUNDLE={path}    # Python: requests, adal, msal, azure-identity, Azure CLI\n  export SSL_CERT_FILE={path}         # OpenSSL, Go, Rust, .NET on Linux\n  export NODE_EXTRA_CA_CERTS={path}   # Node.js\n  curl --cacert {path} …\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_is_made_once_and_its_key_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let (authority, chain, _) = development(folder.path(), Timestamp::UNIX_EPOCH).unwrap();
        let first = std::fs::read(&authority).unwrap();
        assert_eq!(chain.len(), 2);
        let (_, again, _) = development(folder.path(), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(std::fs::read(&authority).unwrap(), first);
        assert_ne!(chain[0], again[0], "a certificate is made at each start");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.path().join("tls/ca-key.pem"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
