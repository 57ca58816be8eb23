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
