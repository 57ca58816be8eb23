//! Examples of commands, which their `--help` shows. A test runs every one of them.

use clap::Command;

/// Commands with their examples, each by its path. Words in capitals stand for what the user has.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "serve",
        &[
            "hindsight serve",
            "hindsight serve --demo --data demo-data",
            "hindsight serve --config hindsight.toml --listen 127.0.0.1:2020",
        ],
    ),
    ("app create", &["hindsight app create web"]),
    ("app list", &["hindsight app list"]),
    ("app show", &["hindsight app show shop"]),
    (
        "app set",
        &[
            "hindsight app set shop --daily-cap 500MB --retention-days 30",
            "hindsight app set shop --daily-cap none",
        ],
    ),
    ("app delete", &["hindsight app delete old-shop"]),
    (
        "key create",
        &[
            "hindsight key create --app shop",
            "hindsight key create --app shop --scope read --scope ingest --expires 30d",
        ],
    ),
    ("key list", &["hindsight key list --app shop"]),
    ("key delete", &["hindsight key delete KEY_ID"]),
    (
        "user create",
        &[
            "hindsight user create grace --app shop",
            "hindsight user create root --app '*' --role admin",
        ],
    ),
    ("user list", &["hindsight user list"]),
    ("user password", &["hindsight user password ada"]),
    (
        "user grant",
        &["hindsight user grant ada --app shop --role read"],
    ),
    (
        "user revoke",
        &["hindsight user revoke ada --app shop --role read"],
    ),
    ("user delete", &["hindsight user delete ada"]),
    (
        "client create",
        &[
            "hindsight client create dashboards --app shop",
            "hindsight client create cli --public --redirect http://localhost:8400",
        ],
    ),
    ("client list", &["hindsight client list"]),
    (
        "client add-secret",
        &["hindsight client add-secret reports --expires 180d"],
    ),
    (
        "client delete-secret",
        &["hindsight client delete-secret reports SECRET_ID"],
    ),
    (
        "client grant",
        &["hindsight client grant reports --app shop --role read"],
    ),
    (
        "client revoke",
        &["hindsight client revoke reports --app shop --role read"],
    ),
    ("client delete", &["hindsight client delete reports"]),
    ("portal", &["hindsight portal"]),
    ("audit", &["hindsight audit --since 7d"]),
    ("cluster status", &["hindsight cluster status"]),
    ("cluster forget", &["hindsight cluster forget NODE"]),
    (
        "query",
        &[
            "hindsight query 'requests | summarize count() by name' --app shop",
            "hindsight query -f chart.kql --app shop --output chart",
            "hindsight query - --app shop --output csv < query.kql > result.csv",
        ],
    ),
    ("shell", &["hindsight shell --app shop"]),
    (
        "tail",
        &[
            "hindsight tail --app shop",
            "hindsight tail 'severityLevel >= 3' --app shop --table traces,exceptions",
            "hindsight tail 'success == false' --app shop --since 10m --output json",
        ],
    ),
    (
        "ingest",
        &[
            "hindsight ingest envelopes.ndjson.gz --app shop",
            "hindsight ingest - --app shop < envelopes.ndjson",
        ],
    ),
    (
        "export",
        &[
            "hindsight export shop-export --app shop",
            "hindsight export requests.csv --app shop --table requests --format csv",
        ],
    ),
    ("import", &["hindsight import shop-export --app web"]),
    ("backup", &["hindsight backup backup-folder"]),
    (
        "restore",
        &["hindsight restore backup-folder --data restored-data"],
    ),
    ("verify", &["hindsight verify backup-folder"]),
    ("store check", &["hindsight store check"]),
    (
        "store recover",
        &["hindsight store recover --data damaged-data"],
    ),
    (
        "store migrate",
        &["hindsight store migrate --to postgres://hindsight@localhost/hindsight"],
    ),
    ("retention status", &["hindsight retention status"]),
    ("retention confirm", &["hindsight retention confirm"]),
    (
        "retention set",
        &["hindsight retention set --app shop --table traces --days 7"],
    ),
    ("retention show", &["hindsight retention show --app shop"]),
    ("retention restore", &["hindsight retention restore"]),
    (
        "mcp",
        &[
            "hindsight mcp --app shop",
            "hindsight mcp --http 127.0.0.1:2021 --app shop",
        ],
    ),
    (
        "config check",
        &[
            "hindsight config check",
            "hindsight config check --config hindsight.toml --show",
        ],
    ),
    ("settings", &["hindsight settings"]),
    ("docs", &["hindsight docs > language.md"]),
    (
        "completions",
        &[
            "hindsight completions bash > hindsight.bash",
            "hindsight completions zsh > _hindsight",
            "hindsight completions fish > hindsight.fish",
        ],
    ),
    (
        "man",
        &[
            "hindsight man > hindsight.1",
            "hindsight man app create",
            "hindsight man --dir man1",
        ],
    ),
];

/// Adds the examples to the help of all commands.
pub(super) fn with_examples(command: Command) -> Command {
    within(command, "")
}

/// Adds the examples to the help of a command and of those below it; `parent` is the path before their names.
fn within(command: Command, parent: &str) -> Command {
    command.mut_subcommands(|sub| {
        let path = format!("{parent}{}", sub.get_name());
        let sub = match EXAMPLES.iter().find(|(name, _)| *name == path) {
            Some((_, lines)) => sub.after_help(text(lines)),
            None => sub,
        };
        within(sub, &format!("{path} "))
    })
}

fn text(lines: &[&str]) -> String {
    let title = if lines.len() == 1 {
        "Example"
    } else {
        "Examples"
    };
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    format!("{title}:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Arguments;
    use super::*;

    /// What fits a terminal of 80 columns with its indentation.
    const WIDEST: usize = 78;

    /// The paths of the commands that do something themselves.
    fn leaves(command: &Command, parent: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|sub| {
            let path = format!("{parent}{}", sub.get_name());
            if sub.has_subcommands() {
                leaves(sub, &format!("{path} "))
            } else {
                vec![path]
            }
        });
        below.collect()
    }

    #[test]
    fn every_command_has_an_example_that_is_its_own() {
        let leaves = leaves(&Arguments::command(), "");
        for path in &leaves {
            let found = EXAMPLES.iter().find(|(name, _)| name == path);
            let lines = found.map_or(&[][..], |(_, lines)| lines);
            assert!(!lines.is_empty(), "`hindsight {path}` has no example");
            for line in lines {
                assert!(line.starts_with(&format!("hindsight {path}")), "{line}");
                assert!(line.len() <= WIDEST, "help wraps {line}");
            }
        }
    }
}
