//! Rights: what a key, a user or a client may do with an application.

/// One right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Ask about telemetry.
    Read,
    /// Send telemetry.
    Ingest,
    /// Everything, also what changes the server.
    Admin,
}

impl Right {
    /// All rights, in the order of documentation.
    pub const ALL: [Right; 3] = [Right::Read, Right::Ingest, Right::Admin];

    /// The name that people write and the catalogue keeps.
    pub const fn name(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Ingest => "ingest",
            Right::Admin => "admin",
        }
    }

    /// The right of this name.
    pub fn parse(name: &str) -> Option<Right> {
        Right::ALL.into_iter().find(|right| right.name() == name)
    }

    const fn bit(self) -> u8 {
        match self {
            Right::Read => 1,
            Right::Ingest => 2,
            Right::Admin => 4,
        }
    }
}

/// A set of rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(u8);

impl Rights {
    /// No right at all.
    pub const NONE: Rights = Rights(0);

    /// The set with this right too.
    #[must_use]
    pub const fn with(self, right: Right) -> Rights {
        Rights(self.0 | right.bit())
    }

    /// The rights of both sets.
    #[must_use]
    pub const fn and(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }

    /// The rights that are in both sets.
    #[must_use]
    pub fn both(self, other: Rights) -> Rights {
        let held = Right::ALL.into_iter();
        held.filter(|right| self.may(*right) && other.may(*right))
            .fold(Rights::NONE, Rights::with)
    }

    /// Whether a right is granted; the right to everything grants each.
    pub const fn may(self, right: Right) -> bool {
        self.0 & (right.bit() | Right::Admin.bit()) != 0
    }

    /// The rights in a list with commas or spaces between; `Err` is the first name that is no right.
    pub fn parse(text: &str) -> Result<Rights, &str> {
        let mut rights = Rights::NONE;
        for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
            rights = rights.with(Right::parse(name).ok_or(name)?);
        }
        Ok(rights)
    }

    /// The names with commas between.
    pub fn text(self) -> String {
        let held = Right::ALL
            .into_iter()
            .filter(|right| self.0 & right.bit() != 0);
        held.map(Right::name).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_text_and_admin_grants_each() {
        let check = |text: &str, may: [bool; 3]| {
            let rights = Rights::parse(text).unwrap();
            assert_eq!(Right::ALL.map(|right| rights.may(right)), may, "{text}");
        };
        check("", [false, false, false]);
        check("read", [true, false, false]);
        check("read, ingest", [true, true, false]);
        check("admin", [true, true, true]);
        assert_eq!(Rights::parse("read,write"), Err("write"));
        assert_eq!(Rights::parse("ingest read").unwrap().text(), "read,ingest");
    }

    #[test]
    fn sets_of_rights_are_united_and_intersected() {
        let set = |text: &str| Rights::parse(text).unwrap();
        let both = |one: &str, other: &str| set(one).both(set(other)).text();
        assert_eq!(both("read,ingest", "read"), "read");
        assert_eq!(both("read", "ingest"), "");
        assert_eq!(both("admin", "read,ingest"), "read,ingest");
        assert_eq!(both("admin", "admin"), "read,ingest,admin");
        assert_eq!(set("read").and(set("ingest")).text(), "read,ingest");
        assert_eq!(set("read").and(set("read")).text(), "read");
        assert_eq!(set("read").with(Right::Read).text(), "read");
        for right in Right::ALL {
            assert_eq!(Right::parse(right.name()), Some(right));
            assert_eq!(Rights::NONE.with(right).text(), right.name());
        }
    }
}
