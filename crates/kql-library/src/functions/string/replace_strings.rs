//! `replace_strings`.

use aho_corasick::{AhoCorasick, MatchKind};
use hindsight_kql_types::DynamicRef;

use crate::functions::prelude::*;
use crate::kernel::CallLimits;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["replace_strings(text: string, lookups: array, rewrites: array) -> string"],
    aliases: &[],
    summary: "The text with each of several texts replaced by its counterpart; replacements are not searched again.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = replace_strings('one two', dynamic(['one', 'two']), dynamic(['two', 2]))",
        "s:string\ntwo 2",
    )],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    let (lookups, rewrites) = (args.dynamics(1)?, args.dynamics(2)?);
    let mut last: Option<(&[u8], Searcher)> = None;
    Ok(args.collect_strings(|row| {
        let (Some(lookups), Some(rewrites)) = (lookups.get(row), rewrites.get(row)) else {
            return Some(Cow::Borrowed(text.get(row)));
        };
        if last.as_ref().is_none_or(|(bytes, _)| *bytes != lookups) {
            last = Searcher::new(lookups).map(|searcher| (lookups, searcher));
        }
        let (_, searcher) = last.as_ref()?;
        Some(Cow::Owned(searcher.replace(
            text.get(row),
            rewrites,
            args.limits(),
        )))
    }))
}

struct Searcher {
    automaton: AhoCorasick,
    /// The array index of each pattern of the automaton: empty lookups are left out.
    places: Vec<i64>,
}

impl Searcher {
    fn new(lookups: &[u8]) -> Option<Searcher> {
        let mut patterns = Vec::new();
        let mut places = Vec::new();
        for (place, lookup) in (0i64..).zip(DynamicRef::new(lookups).iter_array()) {
            let pattern = text_of(lookup);
            if !pattern.is_empty() {
                patterns.push(pattern);
                places.push(place);
            }
        }
        // Of several lookups that match at one position, the first in the array is replaced.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(patterns)
            .ok()?;
        Some(Searcher { automaton, places })
    }

    fn replace(&self, text: &str, rewrites: &[u8], limits: &CallLimits) -> String {
        let rewrites = DynamicRef::new(rewrites);
        let mut out = String::with_capacity(text.len());
        self.automaton
            .replace_all_with(text, &mut out, |found, _, out| {
                let place = self.places.get(found.pattern().as_usize());
                let rewrite = place.and_then(|place| rewrites.get_index(*place));
                if let Some(rewrite) = rewrite {
                    rewrite.to_text(out);
                }
                limits.allows_length(out.len())
            });
        out
    }
}

fn text_of(value: DynamicRef<'_>) -> String {
    let mut out = String::new();
    value.to_text(&mut out);
    out
}
