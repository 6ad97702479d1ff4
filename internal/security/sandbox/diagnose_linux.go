package sandbox

import (
	"os"
	"strings"
)

const installBubblewrap = "install bubblewrap: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap"

// facts are the system settings about user namespaces.
type facts struct {
	path      string // of bwrap
	setuid    bool
	clone     string // kernel.unprivileged_userns_clone, of Debian
	apparmor  string // kernel.apparmor_restrict_unprivileged_userns, of Ubuntu
	max       string // user.max_user_namespaces
	container bool
}

func readFacts(path string) facts {
	read := func(name string) string {
		text, _ := os.ReadFile("/proc/sys/" + name) // "" if there is no such setting
		return strings.TrimSpace(string(text))
	}
	info, err := os.Stat(path)
	return facts{
		path:      path,
		setuid:    err == nil && info.Mode()&os.ModeSetuid != 0,
		clone:     read("kernel/unprivileged_userns_clone"),
		apparmor:  read("kernel/apparmor_restrict_unprivileged_userns"),
		max:       read("user/max_user_namespaces"),
		container: inContainer(),
	}
}

func inContainer() bool {
	if exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("container") != "" {
		return true
	}
	text, _ := os.ReadFile("/proc/1/cgroup")
	for _, word := range []string{"/docker", "/kubepods", "/lxc", "/libpod", "/containerd"} {
		if strings.Contains(string(text), word) {
			return true
		}
	}
	return false
}

// appArmorProfile is a command that permits bwrap to use user namespaces, where
// AppArmor denies them to programs without a profile.
const appArmorProfile = `printf 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap %s flags=(unconfined) {\n  userns,\n}\n' | sudo tee /etc/apparmor.d/bwrap >/dev/null && sudo apparmor_parser -r /etc/apparmor.d/bwrap`

// diagnose returns why no sandbox could be started, and how to fix it.
func diagnose(output string, f facts) (why, fix string) {
	output = strings.TrimPrefix(strings.TrimSpace(output), "bwrap: ")
	switch {
	case strings.Contains(output, "Unknown option"):
		return "bwrap is older than 0.8: " + output, "upgrade bubblewrap to 0.8 or later"
	case f.setuid:
		return "bwrap is setuid root, so it cannot prevent commands from creating their own namespaces",
			"sudo chmod u-s " + f.path
	case f.max == "0":
		return "user namespaces are disabled",
			"sudo sysctl -w user.max_user_namespaces=15000, and add that line to /etc/sysctl.d/60-userns.conf"
	case f.clone == "0":
		return "only root can create user namespaces",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1, and add that line to /etc/sysctl.d/60-userns.conf"
	case f.apparmor == "1":
		return "AppArmor denies user namespaces to programs without a profile (" + output + ")",
			strings.Replace(appArmorProfile, "%s", f.path, 1)
	case f.container:
		return "this container does not allow namespaces (" + output + ")",
			"start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, " +
				"or use the container as the sandbox"
	}
	return output, "run `" + f.path + " --unshare-all --ro-bind / / true` and check its output"
}
