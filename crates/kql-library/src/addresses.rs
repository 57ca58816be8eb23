//! The database of addresses of `geo_info_from_ip_address`: a file of MaxMind's format, such as GeoLite2-City.

use std::net::IpAddr;

use maxminddb::{MaxMindDbError, Reader, geoip2};

/// A database that says where the networks of addresses are.
pub struct AddressDatabase(Reader<Vec<u8>>);

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the database of addresses cannot be read: {0}")]
pub struct AddressDatabaseError(#[from] MaxMindDbError);

/// Where an address is, in English names, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct AddressLocation<'a> {
    pub(crate) country: Option<&'a str>,
    /// The largest subdivision of the country.
    pub(crate) state: Option<&'a str>,
    pub(crate) city: Option<&'a str>,
    /// Degrees.
    pub(crate) latitude: Option<f64>,
    /// Degrees.
    pub(crate) longitude: Option<f64>,
}

impl AddressDatabase {
    /// A database of the content of a file.
    ///
    /// # Errors
    /// [`AddressDatabaseError`] if the content is not of MaxMind's format.
    pub fn from_bytes(content: Vec<u8>) -> Result<AddressDatabase, AddressDatabaseError> {
        Ok(AddressDatabase(Reader::from_source(content)?))
    }

    /// Where `address` is; nothing is known of an address that the database does not have.
    ///
    /// # Errors
    /// [`AddressDatabaseError`] if the database is damaged.
    pub(crate) fn location(
        &self,
        address: IpAddr,
    ) -> Result<AddressLocation<'_>, AddressDatabaseError> {
        // A database of IPv4 alone has no IPv6 address, which the reader would take for an error.
        if address.is_ipv6() && self.0.metadata().ip_version == 4 {
            return Ok(AddressLocation::default());
        }
        let found = self.0.lookup(address)?.decode::<geoip2::City<'_>>()?;
        Ok(
            found.map_or_else(AddressLocation::default, |found| AddressLocation {
                country: found.country.names.english,
                state: found.subdivisions.first().and_then(|s| s.names.english),
                city: found.city.names.english,
                latitude: found.location.latitude,
                longitude: found.location.longitude,
            }),
        )
    }
}

impl std::fmt::Debug for AddressDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = &self.0.metadata().database_type;
        f.debug_tuple("AddressDatabase").field(kind).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_content_is_refused() {
        assert!(AddressDatabase::from_bytes(Vec::new()).is_err());
        assert!(AddressDatabase::from_bytes(b"no database".to_vec()).is_err());
    }
}
