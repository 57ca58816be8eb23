//! `hash` and its alias `hash_xxhash64`: xxHash64 with seed 0 over a value's bytes.
//!
//! Measured for strings (UTF-8), datetimes (ticks, eight bytes) and the null long (hashed as the empty string). The memory
//! layout of other types in the measured engine is unknown, so only types that share the layout of a long are supported.

use xxhash_rust::xxh64::xxh64;

use crate::functions::prelude::*;

pub(crate) static HASH: ScalarFunction = ScalarFunction {
    signatures: &["hash(source: string|integer|time, [mod: long]) -> long"],
    aliases: &["hash_xxhash64"],
    summary: "The xxHash64 of a value, optionally modulo a number.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = hash('World')", "n:long\n1846988464401551951"),
        example("print n = hash('World', 100)", "n:long\n51"),
        example(
            "print n = hash(datetime(2015-01-01))",
            "n:long\n1380966698541616202",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let modulus = if args.len() > 1 {
        Some(args.longs(1)?)
    } else {
        None
    };
    let reduce = |row: usize, hash: u64| match &modulus {
        Some(modulus) => match modulus.get(row)? {
            0 => None,
            modulus => Some((hash as i64).wrapping_rem_euclid(modulus)),
        },
        None => Some(hash as i64),
    };
    if args.kind(0) == ScalarType::String {
        let text = args.strings(0)?;
        return Ok(args.collect_longs(|row| reduce(row, xxh64(text.get(row).as_bytes(), 0))));
    }
    let value = args.longs(0)?;
    Ok(args.collect_longs(|row| {
        let hash = value
            .get(row)
            .map_or_else(|| xxh64(&[], 0), |value| xxh64(&value.to_le_bytes(), 0));
        reduce(row, hash)
    }))
}

#[cfg(test)]
mod tests {
    use super::xxh64;

    #[test]
    fn hashes_match_the_reference() {
        let check = |bytes: &[u8], expected: i64| assert_eq!(xxh64(bytes, 0) as i64, expected);
        check(b"World", 1_846_988_464_401_551_951);
        check(b"Alice", -3_122_868_243_544_336_885);
        check(
            &635_556_672_000_000_000i64.to_le_bytes(),
            1_380_966_698_541_616_202,
        );
    }
}
