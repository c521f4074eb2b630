//! Memory: sizes on the command line, what the machine or container allows, what the process has used.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The share of what is allowed that is used when nobody says otherwise.
const DEFAULT_PERCENT: f64 = 80.0;

/// A size as given on the command line.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Size {
    /// So many bytes.
    Bytes(usize),
    /// A share of what the machine or container allows.
    Percent(f64),
}

impl Default for Size {
    fn default() -> Size {
        Size::Percent(DEFAULT_PERCENT)
    }
}

impl Size {
    /// The size in bytes, here and now.
    pub fn to_bytes(self) -> usize {
        match self {
            Size::Bytes(bytes) => bytes,
            Size::Percent(percent) => {
                let system = System::new(Path::new("/"));
                let share = (system.allowed() as f64 * percent / 100.0) as u64;
                let available = system.meminfo("MemAvailable:").unwrap_or(u64::MAX);
                usize::try_from(share.min(available)).unwrap_or(usize::MAX)
            }
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let problem = || "expected bytes with an optional K, M, G or T, or a percentage: 8G, 512M, 50%".to_owned();
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let number: f64 = number.parse().map_err(|_| problem())?;
        if unit == "%" {
            return if number > 0.0 && number <= 100.0 { Ok(Size::Percent(number)) } else { Err(problem()) };
        }
        let unit = unit.to_ascii_uppercase();
        let shift = match unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit) {
            "" => 0,
            "K" => 10,
            "M" => 20,
            "G" => 30,
            "T" => 40,
            _ => return Err(problem()),
        };
        let bytes = number * (1_u64 << shift) as f64;
        if bytes >= 1.0 && bytes < (1_u64 << 62) as f64 { Ok(Size::Bytes(bytes as usize)) } else { Err(problem()) }
    }
}

/// The files in which Linux tells about memory, below a root that tests can replace.
struct System<'a> {
    root: &'a Path,
}

impl<'a> System<'a> {
    fn new(root: &'a Path) -> System<'a> {
        System { root }
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// Bytes this process may use: the machine's memory, or less where a container says so.
    fn allowed(&self) -> u64 {
        // Without any information, assume a small machine.
        let machine = self.meminfo("MemTotal:").unwrap_or(1 << 30);
        self.container().map_or(machine, |limit| limit.min(machine))
    }

    /// A line of `meminfo`, in bytes.
    fn meminfo(&self, key: &str) -> Option<u64> {
        kilobytes(&self.read("proc/meminfo")?, key)
    }

    /// The smallest limit of the control groups that this process is in.
    fn container(&self) -> Option<u64> {
        let groups = self.read("proc/self/cgroup")?;
        let limits = groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            match controllers {
                "" => self.smallest("sys/fs/cgroup", path, "memory.max"),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    self.smallest("sys/fs/cgroup/memory", path, "memory.limit_in_bytes")
                }
                _ => None,
            }
        });
        limits.min()
    }

    /// The smallest number in the files `name` from the group at `path` up to the root of the hierarchy.
    fn smallest(&self, hierarchy: &str, path: &str, name: &str) -> Option<u64> {
        let path = PathBuf::from(path.trim_start_matches('/'));
        let limits = path.ancestors().filter_map(|group| {
            let text = self.read(Path::new(hierarchy).join(group).join(name))?;
            text.trim().parse::<u64>().ok()
        });
        limits.min()
    }
}

/// The value of a line like `VmHWM:   1234 kB`, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The most memory that this process ever had resident, where the system tells.
pub fn peak_resident() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary() {
        let bytes = |text: &str| {
            text.parse().ok().map(|size| match size {
                Size::Bytes(bytes) => bytes,
                Size::Percent(_) => panic!("a percentage"),
            })
        };
        assert_eq!(bytes("4096"), Some(4096));
        assert_eq!(bytes("64K"), Some(64 << 10));
        assert_eq!(bytes("512MiB"), Some(512 << 20));
        assert_eq!(bytes("1.5g"), Some(3 << 29));
        assert_eq!(bytes("2TB"), Some(2 << 40));
        for wrong in ["", "G", "0", "-1", "1.2.3", "8Q", "1e3", "8I", "99999999T"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn percentages_are_of_what_is_allowed() {
        assert_eq!("50%".parse(), Ok(Size::Percent(50.0)));
        assert!("0%".parse::<Size>().is_err());
        assert!("101%".parse::<Size>().is_err());
        assert!(Size::default().to_bytes() > 0);
    }

    /// A root folder with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:   900 kB\n");

    #[test]
    fn without_a_container_the_machine_decides() {
        let root = system(&[MEMINFO]);
        assert_eq!(System::new(root.path()).allowed(), 1000 << 10);
        assert_eq!(System::new(Path::new("/nonexistent")).allowed(), 1 << 30);
    }

    #[test]
    fn the_tightest_group_on_the_way_up_decides() {
        let root = system(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/memory.max", "500000\n"),
            ("sys/fs/cgroup/memory.max", "900000\n"),
        ]);
        assert_eq!(System::new(root.path()).allowed(), 500_000);
    }

    #[test]
    fn old_hierarchies_count_too() {
        let root = system(&[
            MEMINFO,
            ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/not/visible/here\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "300000\n"),
        ]);
        assert_eq!(System::new(root.path()).allowed(), 300_000);
        let unlimited = system(&[
            MEMINFO,
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(System::new(unlimited.path()).allowed(), 1000 << 10);
    }
}
