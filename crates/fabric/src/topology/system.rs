//! The files in which Linux tells about processors.

use super::cpu_list;
use std::path::{Path, PathBuf};

/// These files, below a root that tests can replace.
pub(super) struct System<'a> {
    root: &'a Path,
}

impl System<'static> {
    pub(super) fn this() -> System<'static> {
        System::below(Path::new("/"))
    }
}

impl<'a> System<'a> {
    pub(super) fn below(root: &'a Path) -> System<'a> {
        System { root }
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    fn read_number(&self, path: impl AsRef<Path>) -> Option<usize> {
        self.read(path)?.trim().parse().ok()
    }

    /// The processors that this process may run on, ascending; if that cannot be told, all that are online, or as many
    /// as the standard library counts.
    pub(super) fn allowed_cpus(&self) -> Vec<usize> {
        self.affinity().or_else(|| self.online()).unwrap_or_else(|| {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            (0..count).collect()
        })
    }

    fn affinity(&self) -> Option<Vec<usize>> {
        let status = self.read("proc/self/status")?;
        cpu_list::parse(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
    }

    fn online(&self) -> Option<Vec<usize>> {
        cpu_list::parse(&self.read("sys/devices/system/cpu/online")?)
    }

    /// The socket of a processor.
    pub(super) fn socket(&self, cpu: usize) -> Option<usize> {
        // Some systems write -1 for want of a number, which is not one.
        self.read_number(cpu_folder(cpu).join("topology/physical_package_id"))
    }

    /// The lowest of the processors that share the last-level cache with this one.
    pub(super) fn core_group(&self, cpu: usize) -> Option<usize> {
        let caches = cpu_folder(cpu).join("cache");
        let indices = std::fs::read_dir(self.root.join(&caches)).ok()?;
        let levels = indices.flatten().filter_map(|entry| {
            let index: usize = entry.file_name().to_str()?.strip_prefix("index")?.parse().ok()?;
            let folder = caches.join(entry.file_name());
            // Without a level, the number of the cache is as good: higher levels come later.
            let level = self.read_number(folder.join("level")).unwrap_or(index);
            Some((level, index, folder))
        });
        let (_, _, last) = levels.max()?;
        cpu_list::parse(&self.read(last.join("shared_cpu_list"))?)?.first().copied()
    }

    /// See [`super::cpu_limit`].
    pub(super) fn cpu_limit(&self) -> usize {
        let allowed = self.allowed_cpus().len();
        self.quota().map_or(allowed, |quota| quota.min(allowed)).max(1)
    }

    /// The smallest number of processors, rounded up, that the control groups of this process grant it.
    pub(super) fn quota(&self) -> Option<usize> {
        let groups = self.read("proc/self/cgroup")?;
        let quotas = groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            match controllers {
                "" => self.smallest("sys/fs/cgroup", path, System::quota_of_group),
                _ if controllers.split(',').any(|name| name == "cpu") => {
                    // The hierarchy is mounted under the name of one or of all of its controllers.
                    let alone = self.smallest("sys/fs/cgroup/cpu", path, System::quota_of_old_group);
                    alone.or_else(|| {
                        let all = format!("sys/fs/cgroup/{controllers}");
                        self.smallest(&all, path, System::quota_of_old_group)
                    })
                }
                _ => None,
            }
        });
        quotas.min()
    }

    /// The smallest quota from the group at `path` up to the root of the hierarchy.
    fn smallest(&self, hierarchy: &str, path: &str, quota: impl Fn(&Self, &Path) -> Option<usize>) -> Option<usize> {
        let path = PathBuf::from(path.trim_start_matches('/'));
        path.ancestors().filter_map(|group| quota(self, &Path::new(hierarchy).join(group))).min()
    }

    /// Version 2: `cpu.max` holds quota and period in microseconds, or `max` and a period.
    fn quota_of_group(&self, group: &Path) -> Option<usize> {
        let text = self.read(group.join("cpu.max"))?;
        let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
        processors(numbers.next()??, numbers.next()??)
    }

    /// Version 1: one file for each number; a quota of -1 is none.
    fn quota_of_old_group(&self, group: &Path) -> Option<usize> {
        let quota = self.read_number(group.join("cpu.cfs_quota_us"))?;
        processors(quota, self.read_number(group.join("cpu.cfs_period_us"))?)
    }
}

fn cpu_folder(cpu: usize) -> PathBuf {
    Path::new("sys/devices/system/cpu").join(format!("cpu{cpu}"))
}

/// As many processors as give `quota` of time in each `period`, rounded up.
fn processors(quota: usize, period: usize) -> Option<usize> {
    (period > 0).then(|| quota.div_ceil(period).max(1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A root folder with these files.
    pub(in super::super) fn fake<P: AsRef<Path>, T: AsRef<str>>(files: &[(P, T)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.as_ref()).unwrap();
        }
        root
    }

    const EIGHT: (&str, &str) = ("proc/self/status", "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");

    fn limit(files: &[(&str, &str)]) -> usize {
        let root = fake(files);
        System::below(root.path()).cpu_limit()
    }

    #[test]
    fn without_a_quota_the_mask_decides() {
        assert_eq!(limit(&[EIGHT]), 8);
        assert_eq!(limit(&[("proc/self/status", "Cpus_allowed_list:\t1,3\n")]), 2);
        let unlimited = [EIGHT, ("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/cpu.max", "max 100000\n")];
        assert_eq!(limit(&unlimited), 8);
    }

    #[test]
    fn without_a_mask_those_online_count() {
        assert_eq!(limit(&[("sys/devices/system/cpu/online", "0-4\n")]), 5);
        assert!(limit(&[]) >= 1);
    }

    #[test]
    fn quotas_are_rounded_up() {
        let group = ("proc/self/cgroup", "0::/a\n");
        assert_eq!(limit(&[EIGHT, group, ("sys/fs/cgroup/a/cpu.max", "250000 100000\n")]), 3);
        assert_eq!(limit(&[EIGHT, group, ("sys/fs/cgroup/a/cpu.max", "1000 100000\n")]), 1);
        assert_eq!(limit(&[EIGHT, group, ("sys/fs/cgroup/a/cpu.max", "6400000 100000\n")]), 8);
        for damaged in ["", "max", "1", "1 0", "x y"] {
            assert_eq!(limit(&[EIGHT, group, ("sys/fs/cgroup/a/cpu.max", damaged)]), 8, "{damaged:?}");
        }
    }

    #[test]
    fn the_tightest_group_on_the_way_up_decides() {
        let files = [
            EIGHT,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n"),
            ("sys/fs/cgroup/outer/cpu.max", "200000 100000\n"),
        ];
        assert_eq!(limit(&files), 2);
    }

    #[test]
    fn old_hierarchies_count_too() {
        let groups = ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n3:cpuset:/\n");
        for folder in ["sys/fs/cgroup/cpu/a", "sys/fs/cgroup/cpu,cpuacct/a", "sys/fs/cgroup/cpu,cpuacct"] {
            let quota = |number| limit_in(folder, groups, number);
            assert_eq!(quota("150000\n"), 2, "{folder}");
            assert_eq!(quota("-1\n"), 8, "{folder}");
        }
    }

    fn limit_in(folder: &str, groups: (&str, &str), quota: &str) -> usize {
        let file = |name: &str| format!("{folder}/{name}");
        let (quota_file, period_file) = (file("cpu.cfs_quota_us"), file("cpu.cfs_period_us"));
        limit(&[EIGHT, groups, (quota_file.as_str(), quota), (period_file.as_str(), "100000\n")])
    }

    #[test]
    fn caches_without_levels_go_by_number() {
        let root = fake(&[
            ("sys/devices/system/cpu/cpu5/cache/index2/shared_cpu_list", "4-5\n"),
            ("sys/devices/system/cpu/cpu5/cache/index10/shared_cpu_list", "1-5\n"),
            ("sys/devices/system/cpu/cpu5/cache/uevent", ""),
        ]);
        assert_eq!(System::below(root.path()).core_group(5), Some(1));
        assert_eq!(System::below(root.path()).core_group(6), None);
    }
}
