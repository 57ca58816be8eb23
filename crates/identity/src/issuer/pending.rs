//! What waits for its second step, in memory: authorisation codes and device codes. A restart forgets them, and people
//! sign in again.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::scope::{Version, Wanted};
use crate::secret;

/// How long an authorisation code may be redeemed (RFC 6749 §4.1.2 recommends at most ten minutes).
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(300);
/// How long a device waits for its person.
pub(crate) const DEVICE_LIFETIME: Duration = Duration::from_secs(900);
/// How long a device waits between two questions.
pub(crate) const DEVICE_INTERVAL: Duration = Duration::from_secs(5);
/// Entries of each kind; more are refused until old ones end.
const MOST: usize = 10_000;

/// Somebody who signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The user's id.
    pub user: String,
    /// The user's name.
    pub name: String,
    /// The session's public id (`session_state`).
    pub session: String,
    /// When they showed their password, in seconds since 1970.
    pub at: i64,
}

/// What a code stands for.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) client: String,
    pub(crate) redirect: String,
    pub(crate) who: SignedIn,
    pub(crate) wanted: Option<Wanted>,
    pub(crate) openid: bool,
    pub(crate) offline: bool,
    pub(crate) nonce: Option<String>,
    pub(crate) challenge: Option<String>,
    /// The family that its tokens will belong to.
    pub(crate) grant: String,
    pub(crate) version: Version,
}

#[derive(Debug)]
struct Kept<T> {
    value: T,
    until: Duration,
    used: bool,
    /// Whether it was shown again after its first use.
    replayed: bool,
}

/// What redeeming a code led to.
pub(crate) enum Taken {
    /// There is no such code (any more).
    Unknown,
    /// It was used before; its family.
    Again(String),
    /// It is used up now.
    Once(Box<Code>),
}

/// The codes, by the hash of their text.
#[derive(Debug, Default)]
pub(crate) struct Codes(Mutex<HashMap<Vec<u8>, Kept<Code>>>);

impl Codes {
    /// Keeps a code; false where too many wait.
    pub(crate) fn keep(&self, text: &str, code: Code, now: Duration) -> bool {
        let mut codes = self.0.lock();
        if codes.len() >= MOST {
            codes.retain(|_, kept| now < kept.until);
        }
        if codes.len() >= MOST {
            return false;
        }
        let kept = Kept {
            value: code,
            until: now + CODE_LIFETIME,
            used: false,
            replayed: false,
        };
        codes.insert(secret::hash(text), kept);
        true
    }

    /// Uses a code up. It is remembered until it would have ended, so that a second use is noticed.
    pub(crate) fn take(&self, text: &str, now: Duration) -> Taken {
        let mut codes = self.0.lock();
        let hash = secret::hash(text);
        match codes.get_mut(&hash) {
            Some(kept) if kept.used => {
                kept.replayed = true;
                Taken::Again(kept.value.grant.clone())
            }
            Some(kept) if now < kept.until => {
                kept.used = true;
                // Tokens that it gives may be revoked by a second use for as long as the longest of them could matter.
                kept.until = now + 12 * CODE_LIFETIME;
                Taken::Once(Box::new(kept.value.clone()))
            }
            Some(_) => {
                codes.remove(&hash);
                Taken::Unknown
            }
            None => Taken::Unknown,
        }
    }

    /// Whether a used code was shown again: the first use, which may still be in flight, must give nothing then.
    pub(crate) fn is_replayed(&self, text: &str) -> bool {
        let codes = self.0.lock();
        let kept = codes.get(&secret::hash(text));
        kept.is_some_and(|kept| kept.replayed)
    }
}

/// A device that waits for its person.
#[derive(Debug, Clone)]
pub struct Device {
    /// The client's id.
    pub client: String,
    /// The client's name, for the person to see.
    pub client_name: String,
    pub(crate) wanted: Option<Wanted>,
    pub(crate) openid: bool,
    pub(crate) offline: bool,
    pub(crate) version: Version,
    decision: Decision,
    asked: Option<Duration>,
    until: Duration,
}

#[derive(Debug, Clone)]
enum Decision {
    Open,
    No,
    Yes(SignedIn),
}

/// What a device that asks again is told.
pub(crate) enum Polled {
    Unknown,
    Expired,
    TooSoon,
    Pending,
    Denied,
    Ready(Box<Device>, SignedIn),
}

/// The devices, by the hash of the device code, and their user codes.
#[derive(Debug, Default)]
pub(crate) struct Devices(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    devices: HashMap<Vec<u8>, Device>,
    codes: HashMap<String, Vec<u8>>,
}

impl Device {
    pub(crate) fn new(
        client: (String, String),
        wanted: Option<Wanted>,
        (openid, offline): (bool, bool),
        version: Version,
        now: Duration,
    ) -> Device {
        Device {
            client: client.0,
            client_name: client.1,
            wanted,
            openid,
            offline,
            version,
            decision: Decision::Open,
            asked: None,
            until: now + DEVICE_LIFETIME,
        }
    }
}

impl Devices {
    /// Keeps a device under its two codes; false where too many wait or the user code is taken.
    pub(crate) fn keep(
        &self,
        device_code: &str,
        user_code: &str,
        device: Device,
        now: Duration,
    ) -> bool {
        let mut waiting = self.0.lock();
        if waiting.devices.len() >= MOST {
            waiting.forget(now);
        }
        if waiting.devices.len() >= MOST || waiting.codes.contains_key(user_code) {
            return false;
        }
        let hash = secret::hash(device_code);
        waiting.codes.insert(user_code.to_owned(), hash.clone());
        waiting.devices.insert(hash, device);
        true
    }

    /// The device that waits under a user code.
    pub(crate) fn find(&self, user_code: &str, now: Duration) -> Option<Device> {
        let waiting = self.0.lock();
        let device = waiting.devices.get(waiting.codes.get(user_code)?)?;
        let open = matches!(device.decision, Decision::Open) && now < device.until;
        open.then(|| device.clone())
    }

    /// The person decides; false where no such device waits.
    pub(crate) fn decide(&self, user_code: &str, who: Option<SignedIn>, now: Duration) -> bool {
        let mut waiting = self.0.lock();
        // A user code is good for one decision.
        let Some(hash) = waiting.codes.remove(user_code) else {
            return false;
        };
        match waiting.devices.get_mut(&hash) {
            Some(device) if now < device.until => {
                device.decision = who.map_or(Decision::No, Decision::Yes);
                true
            }
            _ => false,
        }
    }

    /// The device asks whether the person has decided. A decision is told once.
    pub(crate) fn poll(&self, device_code: &str, client: &str, now: Duration) -> Polled {
        let mut waiting = self.0.lock();
        let hash = secret::hash(device_code);
        let Some(device) = waiting
            .devices
            .get_mut(&hash)
            .filter(|device| device.client == client)
        else {
            return Polled::Unknown;
        };
        let expired = now >= device.until;
        let too_soon = device
            .asked
            .is_some_and(|asked| now < asked + DEVICE_INTERVAL / 2);
        device.asked = Some(now);
        if !expired && matches!(device.decision, Decision::Open) {
            return if too_soon {
                Polled::TooSoon
            } else {
                Polled::Pending
            };
        }
        let Some(device) = waiting.devices.remove(&hash) else {
            return Polled::Unknown;
        };
        match device.decision.clone() {
            _ if expired => Polled::Expired,
            Decision::Yes(who) => Polled::Ready(Box::new(device), who),
            Decision::No | Decision::Open => Polled::Denied,
        }
    }
}

impl Waiting {
    fn forget(&mut self, now: Duration) {
        self.devices.retain(|_, device| now < device.until);
        let devices = &self.devices;
        self.codes.retain(|_, hash| devices.contains_key(hash));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1000);

    fn person() -> SignedIn {
        SignedIn {
            user: "u".to_owned(),
            name: "ada".to_owned(),
            session: "s".to_owned(),
            at: 0,
        }
    }

    fn code(grant: &str) -> Code {
        Code {
            client: "c".to_owned(),
            redirect: "https://app.example/cb".to_owned(),
            who: person(),
            wanted: None,
            openid: true,
            offline: false,
            nonce: None,
            challenge: None,
            grant: grant.to_owned(),
            version: Version::V2,
        }
    }

    fn device(now: Duration) -> Device {
        let client = ("c".to_owned(), "Client".to_owned());
        Device::new(client, None, (true, false), Version::V2, now)
    }

    /// What a poll of the device `d` by its client returns, in a word.
    fn poll(devices: &Devices, now: Duration) -> &'static str {
        match devices.poll("d", "c", now) {
            Polled::Unknown => "unknown",
            Polled::Expired => "expired",
            Polled::TooSoon => "too soon",
            Polled::Pending => "pending",
            Polled::Denied => "denied",
            Polled::Ready(device, who) => {
                assert_eq!((device.client.as_str(), who), ("c", person()));
                "ready"
            }
        }
    }

    #[test]
    fn a_code_is_good_once_and_a_second_use_names_its_family() {
        let codes = Codes::default();
        assert!(codes.keep("a", code("family"), START));
        assert!(!codes.is_replayed("a"), "it was not used yet");
        assert!(matches!(codes.take("b", START), Taken::Unknown));
        assert!(matches!(codes.take("a", START), Taken::Once(code) if code.grant == "family"));
        assert!(!codes.is_replayed("a"), "it was used once");
        // A use is remembered for longer than the code would have lived.
        let later = START + 2 * CODE_LIFETIME;
        assert!(matches!(codes.take("a", later), Taken::Again(grant) if grant == "family"));
        assert!(codes.is_replayed("a"));
        assert!(!codes.is_replayed("b"));
    }

    #[test]
    fn a_code_ends_with_its_lifetime() {
        let codes = Codes::default();
        let last = START + CODE_LIFETIME - Duration::from_nanos(1);
        assert!(codes.keep("a", code("a"), START) && codes.keep("b", code("b"), START));
        assert!(matches!(codes.take("a", last), Taken::Once(_)));
        assert!(matches!(
            codes.take("b", START + CODE_LIFETIME),
            Taken::Unknown
        ));
        // It was forgotten, also for a clock that goes back.
        assert!(matches!(codes.take("b", START), Taken::Unknown));
    }

    #[test]
    fn codes_beyond_the_limit_are_refused_until_others_end() {
        let codes = Codes::default();
        for number in 0..MOST {
            let now = START + Duration::from_secs(u64::from(number > 0));
            assert!(codes.keep(&number.to_string(), code("a"), now));
        }
        let end = START + CODE_LIFETIME;
        let before = end - Duration::from_nanos(1);
        assert!(!codes.keep("one more", code("a"), before));
        assert!(codes.keep("one more", code("a"), end), "the first ended");
        assert!(!codes.keep("another", code("a"), end), "no other ended");
        // Those that wait are kept, and a code that was used counts for longer.
        assert!(matches!(codes.take("1", end), Taken::Once(_)));
        let all_ended = end + CODE_LIFETIME;
        assert!(codes.keep("another", code("a"), all_ended));
        assert!(matches!(codes.take("1", all_ended), Taken::Again(_)));
    }

    #[test]
    fn a_device_waits_for_its_person_and_is_answered_once() {
        let devices = Devices::default();
        assert!(devices.keep("d", "USER", device(START), START));
        assert!(matches!(
            devices.poll("d", "other client", START),
            Polled::Unknown
        ));
        assert_eq!(poll(&devices, START), "pending");
        assert_eq!(devices.find("USER", START).unwrap().client_name, "Client");
        assert!(devices.find("OTHER", START).is_none());
        assert!(!devices.decide("OTHER", Some(person()), START));
        assert!(devices.decide("USER", Some(person()), START));
        assert!(devices.find("USER", START).is_none());
        assert!(!devices.decide("USER", None, START), "it was decided");
        assert_eq!(poll(&devices, START), "ready");
        assert_eq!(poll(&devices, START), "unknown");
    }

    #[test]
    fn a_device_that_a_person_refuses_is_denied() {
        let devices = Devices::default();
        assert!(devices.keep("d", "USER", device(START), START));
        assert!(devices.decide("USER", None, START));
        assert_eq!(poll(&devices, START), "denied");
    }

    #[test]
    fn a_device_that_polls_too_often_is_slowed_down() {
        let devices = Devices::default();
        assert!(devices.keep("d", "USER", device(START), START));
        let half = DEVICE_INTERVAL / 2;
        let step = Duration::from_nanos(1);
        assert_eq!(poll(&devices, START), "pending");
        assert_eq!(poll(&devices, START + half - step), "too soon");
        // The early poll counts as the last one.
        assert_eq!(poll(&devices, START + half), "too soon");
        assert_eq!(poll(&devices, START + 2 * half), "pending");
    }

    #[test]
    fn a_device_ends_with_its_lifetime() {
        let devices = Devices::default();
        assert!(devices.keep("d", "USER", device(START), START));
        let end = START + DEVICE_LIFETIME;
        let last = end - Duration::from_nanos(1);
        assert!(devices.find("USER", last).is_some());
        assert_eq!(poll(&devices, last), "pending");
        assert!(devices.find("USER", end).is_none());
        assert!(!devices.decide("USER", Some(person()), end));
        assert_eq!(poll(&devices, end), "expired");
        assert_eq!(poll(&devices, end), "unknown");

        assert!(devices.keep("d", "LAST", device(START), START));
        assert!(devices.decide("LAST", Some(person()), last));
        assert_eq!(poll(&devices, end), "expired", "also where it was allowed");
    }

    #[test]
    fn devices_beyond_the_limit_are_refused_until_others_end() {
        let devices = Devices::default();
        let keep = |name: &str, now| devices.keep(name, name, device(now), now);
        for number in 0..MOST {
            let now = START + Duration::from_secs(u64::from(number > 0));
            assert!(keep(&number.to_string(), now));
        }
        let end = START + DEVICE_LIFETIME;
        assert!(!keep("one more", end - Duration::from_nanos(1)));
        assert!(keep("one more", end), "the first ended");
        assert!(!keep("another", end), "no other ended");
        assert!(devices.find("0", START).is_none(), "it is forgotten");
        assert!(devices.find("1", end).is_some());
    }

    #[test]
    fn a_user_code_stands_for_one_device() {
        let devices = Devices::default();
        assert!(devices.keep("d", "USER", device(START), START));
        assert!(!devices.keep("e", "USER", device(START), START));
        assert!(matches!(devices.poll("e", "c", START), Polled::Unknown));
        assert_eq!(poll(&devices, START), "pending");
    }
}
