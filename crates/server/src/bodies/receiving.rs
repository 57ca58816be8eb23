//! Bodies that are arriving. They are limited in bytes, and in number for each address; the longest-arriving ones are closed to
//! make room, so that clients that send slowly do not keep others out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Memory of a request beside its body and its headers.
const BASE: usize = 4096;

/// The bodies that are arriving.
pub(crate) struct Receiving {
    /// Bytes of all bodies.
    limit: usize,
    /// Bodies of one address.
    per_address: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    bytes: usize,
    /// By their number, so the longest-arriving first.
    bodies: BTreeMap<u64, Body>,
    addresses: HashMap<Option<IpAddr>, Address>,
}

struct Body {
    address: Option<IpAddr>,
    bytes: usize,
    closing: CancellationToken,
}

#[derive(Default)]
struct Address {
    bytes: usize,
    bodies: BTreeSet<u64>,
}

/// A body that is arriving. Dropping it releases its memory.
pub(crate) struct Arriving {
    receiving: Arc<Receiving>,
    number: u64,
    closing: CancellationToken,
}

/// Why a body may not go on arriving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It was closed to make room for others.
    Closed,
    /// It needs more memory than all bodies have.
    TooLarge,
}

impl Receiving {
    /// At most `limit` bytes, and `per_address` bodies of one address.
    pub(crate) fn new(limit: usize, per_address: usize) -> Arc<Receiving> {
        Arc::new(Receiving {
            limit,
            per_address,
            state: Mutex::default(),
        })
    }

    /// A body begins to arrive. Requests within this process have no address and no limit of their number.
    pub(crate) fn begin(
        self: &Arc<Receiving>,
        address: Option<IpAddr>,
        headers: usize,
    ) -> Result<Arriving, Refused> {
        let closing = CancellationToken::new();
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let body = Body {
            address,
            bytes: 0,
            closing: closing.clone(),
        };
        state.bodies.insert(number, body);
        let own = state.addresses.entry(address).or_default();
        own.bodies.insert(number);
        if own.bodies.len() > self.per_address
            && address.is_some()
            && let Some(oldest) = own.bodies.first().copied()
        {
            state.close(oldest);
        }
        drop(state);
        let arriving = Arriving {
            receiving: self.clone(),
            number,
            closing,
        };
        arriving.grow(BASE + headers)?;
        Ok(arriving)
    }

    /// Bytes of all bodies now.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }
}

impl State {
    fn remove(&mut self, number: u64) -> Option<Body> {
        let body = self.bodies.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(body.bytes);
        if let Some(own) = self.addresses.get_mut(&body.address) {
            own.bytes = own.bytes.saturating_sub(body.bytes);
            own.bodies.remove(&number);
            if own.bodies.is_empty() {
                self.addresses.remove(&body.address);
            }
        }
        Some(body)
    }

    fn close(&mut self, number: u64) {
        if let Some(body) = self.remove(number) {
            body.closing.cancel();
            metrics::counter!("hindsight_bodies_closed_total").increment(1);
        }
    }

    /// The body to close for one of `number`: the longest-arriving one, of the same address if that has more than half.
    fn to_close(&self, number: u64, limit: usize) -> Option<u64> {
        let address = self.bodies.get(&number)?.address;
        let own = self.addresses.get(&address)?;
        if own.bytes > limit / 2 {
            own.bodies.first().copied()
        } else {
            self.bodies.keys().next().copied()
        }
    }
}

impl Arriving {
    /// Reserves more bytes; closes other bodies where that needs room.
    ///
    /// # Errors
    /// [`Refused`] where this body was closed for another one, is the one to close, or is too large.
    pub(crate) fn grow(&self, bytes: usize) -> Result<(), Refused> {
        let limit = self.receiving.limit;
        let mut state = self.receiving.state.lock();
        let body = state.bodies.get_mut(&self.number).ok_or(Refused::Closed)?;
        if body.bytes + bytes > limit {
            return Err(Refused::TooLarge);
        }
        body.bytes += bytes;
        let address = body.address;
        state.bytes += bytes;
        state.addresses.entry(address).or_default().bytes += bytes;
        while state.bytes > limit {
            let oldest = state.to_close(self.number, limit).unwrap_or(self.number);
            state.close(oldest);
            if oldest == self.number {
                return Err(Refused::Closed);
            }
        }
        Ok(())
    }

    /// Completes when the body is closed to make room for others.
    pub(crate) async fn closed(&self) {
        self.closing.cancelled().await;
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.receiving.state.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, number]))
    }

    fn is_closed(arriving: &Arriving) -> bool {
        arriving.closing.is_cancelled()
    }

    #[test]
    fn the_longest_arriving_bodies_make_room() {
        let receiving = Receiving::new(10 * BASE, 100);
        let begin = |number| receiving.begin(address(number), 0).ok().unwrap();
        let (first, second, third) = (begin(1), begin(2), begin(3));
        assert_eq!(second.grow(5 * BASE), Ok(()));
        assert_eq!(receiving.bytes(), 8 * BASE);
        assert_eq!(third.grow(3 * BASE), Ok(()));
        assert!(is_closed(&first) && !is_closed(&second));
        // More than half is of one address: it closes its own.
        assert_eq!(second.grow(BASE), Err(Refused::Closed));
        assert!(is_closed(&second) && !is_closed(&third));
        assert_eq!(receiving.bytes(), 4 * BASE);
        assert_eq!(first.grow(1), Err(Refused::Closed));
        drop((first, second, third));
        assert_eq!(receiving.bytes(), 0);
    }

    #[test]
    fn a_body_that_is_larger_than_all_memory_closes_no_other() {
        let receiving = Receiving::new(10 * BASE, 100);
        let (one, other) = (
            receiving.begin(address(1), 0).ok().unwrap(),
            receiving.begin(address(2), 0).ok().unwrap(),
        );
        assert_eq!(other.grow(20 * BASE), Err(Refused::TooLarge));
        assert!(!is_closed(&one));
        assert!(receiving.begin(address(1), 20 * BASE).is_err());
    }

    #[test]
    fn an_address_has_so_many_bodies() {
        let receiving = Receiving::new(1 << 20, 2);
        let begin = |address| receiving.begin(address, 0).ok().unwrap();
        let other = begin(address(9));
        let of_one: Vec<_> = (0..3).map(|_| begin(address(1))).collect();
        let closed: Vec<_> = of_one.iter().map(is_closed).collect();
        assert_eq!(closed, [true, false, false]);
        assert!(!is_closed(&other));
        let within: Vec<_> = (0..10).map(|_| begin(None)).collect();
        assert!(!within.iter().any(is_closed));
    }
}
