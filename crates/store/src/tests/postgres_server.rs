//! A private server of PostgreSQL for a test.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::CataloguePlace;

/// The account that the server runs as when the tests run as root, which PostgreSQL refuses: user id and group id.
type Account = Option<(u32, u32)>;

/// A server with an empty database. It ends with this value, or with the thread of the test.
#[derive(Debug)]
pub(crate) struct PostgresServer {
    folder: tempfile::TempDir,
    programs: PathBuf,
    account: Account,
    settings: Vec<String>,
    port: String,
    process: Option<Child>,
}

impl PostgresServer {
    /// Starts a server; `None`, with the reason on standard error, where PostgreSQL is not installed.
    ///
    /// With `HINDSIGHT_REQUIRE_POSTGRES` in the environment a missing PostgreSQL fails the test.
    pub(crate) fn start() -> Option<PostgresServer> {
        PostgresServer::start_with(&[], &[])
    }

    /// Starts a server with further files in the folder of its data, which only it can read, and further settings.
    pub(crate) fn start_with(
        files: &[(&str, &str)],
        settings: &[String],
    ) -> Option<PostgresServer> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("HINDSIGHT_REQUIRE_POSTGRES").is_none(),
                "PostgreSQL is not installed"
            );
            eprintln!("skipped: PostgreSQL is not installed");
            return None;
        };
        let account = account();
        let folder = tempfile::tempdir().unwrap();
        give(folder.path(), account);
        let template = template(&programs, account);
        run(program("cp", account)
            .arg("-a")
            .arg(&template)
            .arg(folder.path().join("data")));
        let mut server = PostgresServer {
            folder,
            programs,
            account,
            port: settings
                .iter()
                .find_map(|setting| setting.strip_prefix("port="))
                .unwrap_or("5432")
                .to_owned(),
            settings: settings.to_vec(),
            process: None,
        };
        for (name, text) in files {
            let path = server.folder.path().join("data").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            give(&path, account);
        }
        server.go_on();
        server.sql("postgres", "CREATE DATABASE hindsight");
        Some(server)
    }

    /// Starts the server again after [`PostgresServer::stop`].
    pub(crate) fn go_on(&mut self) {
        let settings = [
            format!("unix_socket_directories={}", self.folder.path().display()),
            "fsync=off".to_owned(),
            "shared_buffers=16MB".to_owned(),
            "max_connections=30".to_owned(),
            "listen_addresses=".to_owned(),
        ];
        let mut command = program(self.programs.join("postgres"), self.account);
        command.arg("-D").arg(self.folder.path().join("data"));
        for setting in settings.iter().chain(&self.settings) {
            command.arg("-c").arg(setting);
        }
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        command.stderr(log.try_clone().unwrap()).stdout(log);
        self.process = Some(command.spawn().unwrap());
        for _ in 0..200 {
            let ready = program(self.programs.join("pg_isready"), self.account)
                .arg("--quiet")
                .args(["--port", &self.port])
                .arg("--host")
                .arg(self.folder.path())
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.folder.path().join("log"));
        panic!("PostgreSQL does not start: {log:?}");
    }

    /// Ends the server at once, as a crash does: it closes its connections without a word and recovers at the next start.
    pub(crate) fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            run(Command::new("kill").args(["-QUIT", &process.id().to_string()]));
            process.wait().unwrap();
        }
    }

    /// Executes a statement in a database; returns what it prints.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let output = program(self.programs.join("psql"), self.account)
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--no-align",
                "--user",
                "hindsight",
            ])
            .arg("--host")
            .arg(self.folder.path())
            .args(["--port", &self.port])
            .args(["--dbname", database, "--command", statement])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The folder of its socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A catalogue in its database.
    pub(crate) fn place(&self) -> CataloguePlace {
        place_at(self.folder())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A catalogue in the database of the server whose socket is in a folder.
pub(crate) fn place_at(folder: &Path) -> CataloguePlace {
    let url = format!("postgres://hindsight@/hindsight?host={}", folder.display());
    url.parse().unwrap()
}

/// An empty cluster, made once for all tests of this machine.
fn template(programs: &Path, account: Account) -> PathBuf {
    let path = std::env::temp_dir().join(format!(
        "hindsight-test-postgres-{}",
        account.unwrap_or_default().0
    ));
    let version = path.join("PG_VERSION");
    if !version.exists() {
        let building = tempfile::tempdir().unwrap();
        give(building.path(), account);
        let data = building.path().join("data");
        // Another order of texts than that of their bytes.
        run(program(programs.join("initdb"), account)
            .args([
                "--username=hindsight",
                "--auth=trust",
                "--no-sync",
                "--wal-segsize=1",
            ])
            .args([
                "--encoding=UTF8",
                "--no-locale",
                "--locale-provider=icu",
                "--icu-locale=und",
            ])
            .arg("--pgdata")
            .arg(&data)
            .stdout(Stdio::null()));
        // Another test may have been faster.
        let _ = std::fs::rename(&data, &path);
    }
    path
}

/// The folder of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // Debian does not put the server's programs on the path.
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    // The path may have links to some of the programs.
    let found = folders
        .into_iter()
        .filter_map(|folder| folder.join("initdb").canonicalize().ok())
        .filter_map(|initdb| Some(initdb.parent()?.to_owned()));
    let mut whole = found.filter(|folder| folder.join("postgres").exists());
    whole.next()
}

fn account() -> Account {
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::metadata("/proc/self").ok()?.uid();
    if own != 0 {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let of = |name: &str| {
        let line = accounts.lines().find(|line| line.starts_with(name))?;
        let mut parts = line.split(':').skip(2);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    of("postgres:").or_else(|| of("nobody:"))
}

fn give(folder: &Path, account: Account) {
    if let Some((user, group)) = account {
        chown(folder, Some(user), Some(group)).unwrap();
    }
}

/// A program that runs as the account, and ends with the thread that started it.
fn program(program: impl AsRef<std::ffi::OsStr>, account: Account) -> Command {
    let mut command = Command::new("setpriv");
    if let Some((user, group)) = account {
        command.args([format!("--reuid={user}"), format!("--regid={group}")]);
        command.arg("--clear-groups");
    }
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
