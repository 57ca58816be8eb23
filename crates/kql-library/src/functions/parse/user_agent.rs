//! `parse_user_agent` (`docs/semantics.md §11`). The patterns are those of uap-core (`data/uap-core`).

use std::collections::HashMap;
use std::sync::LazyLock;

use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Code;
use hindsight_kql_types::{Dynamic, Encoder};
use ua_parser::{Regexes, device, os, user_agent};

use crate::functions::prelude::*;

/// The maximum bytes of a user agent: the patterns are matched without a check for cancellation.
const MAX_BYTES: usize = 64 << 10;
/// The family of what no pattern matches.
const OTHER: &str = "Other";

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "parse_user_agent(user_agent: string, look_for: const string|dynamic) -> dynamic",
    ],
    aliases: &[],
    summary: "The browser, the operating system and the device of a user agent. `look_for` is `browser`, `os`, `device` or an array of these.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print d = parse_user_agent('Mozilla/5.0 (Windows; U; en-US) AppleWebKit/531.9 (KHTML, like Gecko) AdobeAIR/2.5.1', 'browser')",
        "d:dynamic\n{\"Browser\":{\"Family\":\"AdobeAIR\",\"MajorVersion\":\"2\",\"MinorVersion\":\"5\",\"Patch\":\"1\"}}",
    )],
    eval: Eval::Rewrite(bind),
};

/// The words of `look_for`, in the order of the result.
const TARGETS: [&str; 3] = ["browser", "os", "device"];

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let Some(words) = words(call) else {
        return Err(refuse(
            call,
            Code::Semantics,
            "parse_user_agent(): look_for must be 'browser', 'os', 'device' or an array of these",
        ));
    };
    let user_agent = call.args.iter().take(1).map(|arg| arg.expr.clone());
    Ok(crate::call::kernel_call(
        &KERNEL,
        user_agent.chain([lit(words.join(" "))]).collect(),
        vec![ScalarType::String; 2],
        call.result,
    ))
}

/// The words of `look_for`; `None` if it is empty or has another word.
fn words(call: &CallArgs<'_>) -> Option<Vec<String>> {
    let word = |value: Dynamic| match value {
        Dynamic::String(word) if TARGETS.contains(&word.as_str()) => Some(word),
        _ => None,
    };
    let value = match call.args.get(1)?.constant.as_ref()? {
        Value::String(word) => Dynamic::String(word.clone()),
        Value::Dynamic(bytes) => Dynamic::decode(bytes),
        _ => return None,
    };
    match value {
        Dynamic::Array(values) if !values.is_empty() => values.into_iter().map(word).collect(),
        single => Some(vec![word(single)?]),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("parse_user_agent", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (texts, words) = (args.strings(0)?, args.strings(1)?);
    let readers = Readers::new(words.get(0))?;
    // Many rows of a batch come from the same user agent.
    let mut known: HashMap<&str, Vec<u8>> = HashMap::new();
    let mut encoder = Encoder::new();
    let mut too_long = false;
    let result = args.collect_dynamics(|row, out| {
        let text = texts.get(row);
        if text.len() > MAX_BYTES {
            too_long = true;
            return false;
        }
        let value = known.entry(text).or_insert_with(|| {
            readers.write(text, &mut encoder);
            encoder.finish()
        });
        out.extend_from_slice(value);
        true
    });
    if too_long {
        let message = format!(
            "parse_user_agent(): a user agent has more than {MAX_BYTES} bytes, the most that are supported"
        );
        return Err(KernelError::Failed(message));
    }
    Ok(result)
}

/// The readers of the parts that a call looks for.
struct Readers {
    browser: Option<&'static user_agent::Extractor<'static>>,
    system: Option<&'static os::Extractor<'static>>,
    device: Option<&'static device::Extractor<'static>>,
}

impl Readers {
    fn new(words: &str) -> Result<Readers, KernelError> {
        let wanted = |target: &str| words.split(' ').any(|word| word == target);
        Ok(Readers {
            browser: wanted("browser").then(|| compiled(&BROWSERS)).transpose()?,
            system: wanted("os").then(|| compiled(&SYSTEMS)).transpose()?,
            device: wanted("device").then(|| compiled(&DEVICES)).transpose()?,
        })
    }

    fn write(&self, text: &str, out: &mut Encoder) {
        out.begin_bag();
        if let Some(browsers) = self.browser {
            let found = browsers.extract(text).unwrap_or_default();
            out.key("Browser");
            let parts = [
                ("Family", family(&found.family)),
                ("MajorVersion", found.major.unwrap_or_default()),
                ("MinorVersion", found.minor.unwrap_or_default()),
                ("Patch", found.patch.unwrap_or_default()),
            ];
            write_part(&parts, out);
        }
        if let Some(systems) = self.system {
            let found = systems.extract(text).unwrap_or_default();
            out.key("OperatingSystem");
            let parts = [
                ("Family", family(&found.os)),
                ("MajorVersion", found.major.as_deref().unwrap_or_default()),
                ("MinorVersion", found.minor.as_deref().unwrap_or_default()),
                ("Patch", found.patch.as_deref().unwrap_or_default()),
                (
                    "PatchMinor",
                    found.patch_minor.as_deref().unwrap_or_default(),
                ),
            ];
            write_part(&parts, out);
        }
        if let Some(devices) = self.device {
            let found = devices.extract(text).unwrap_or_default();
            out.key("Device");
            let parts = [
                ("Family", family(&found.device)),
                ("Brand", found.brand.as_deref().unwrap_or_default()),
                ("Model", found.model.as_deref().unwrap_or_default()),
            ];
            write_part(&parts, out);
        }
        out.end();
    }
}

fn family(name: &str) -> &str {
    if name.is_empty() { OTHER } else { name }
}

/// Writes one part of the result: an absent value is the empty text.
fn write_part(parts: &[(&str, &str)], out: &mut Encoder) {
    out.begin_bag();
    for (key, value) in parts {
        out.key(key);
        out.string(value);
    }
    out.end();
}

/// Patterns that are compiled when a call first needs them; the error's text if they do not compile.
type Patterns<E> = LazyLock<Result<E, String>>;

static BROWSERS: Patterns<user_agent::Extractor<'static>> = LazyLock::new(|| {
    let builder = user_agent::Builder::new().push_all(regexes()?.user_agent_parsers);
    let built = builder.and_then(|builder| Ok(builder.build()?));
    built.map_err(|error| error.to_string())
});

static SYSTEMS: Patterns<os::Extractor<'static>> = LazyLock::new(|| {
    let builder = os::Builder::new().push_all(regexes()?.os_parsers);
    let built = builder.map_err(ua_parser::Error::from);
    let built = built.and_then(|builder| Ok(builder.build()?));
    built.map_err(|error| error.to_string())
});

static DEVICES: Patterns<device::Extractor<'static>> = LazyLock::new(|| {
    let builder = device::Builder::new().push_all(regexes()?.device_parsers);
    let built = builder.map_err(ua_parser::Error::from);
    let built = built.and_then(|builder| Ok(builder.build()?));
    built.map_err(|error| error.to_string())
});

fn regexes() -> Result<Regexes<'static>, String> {
    let text = include_str!("../../../data/uap-core/regexes.json");
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn compiled<E>(patterns: &'static Patterns<E>) -> Result<&'static E, KernelError> {
    let compiled = patterns.as_ref();
    compiled.map_err(|error| KernelError::Failed(format!("parse_user_agent(): {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        let readers = Readers::new("browser os device");
        assert_eq!(readers.err().map(|error| error.to_string()), None);
    }
}
