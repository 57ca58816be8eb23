//! `rand`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["rand([number: long]) -> real"],
    aliases: &[],
    summary: "A random real from 0 up to but excluding 1, or a random integer from 0 up to but excluding the \
    argument, for every row.",
    result_name: ResultName::FirstArgument,
    volatile: true,
    examples: &[
        example("print b = rand() < 1.0", "b:bool\ntrue"),
        example("print r = rand(1)", "r:real\n0.0"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    if args.is_empty() {
        return Ok(args.collect_reals(|_| Some(rand::random::<f64>())));
    }
    let bound = args.longs(0)?;
    Ok(args.collect_reals(|row| {
        let bound = bound.get(row)?;
        // A bound of zero or less leaves no range of integers, so the result is a real from 0 up to 1, as without an
        // argument.
        Some(match bound {
            ..=0 => rand::random::<f64>(),
            _ => (rand::random::<f64>() * bound as f64).floor(),
        })
    }))
}
