package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// secrets are hidden in home directories. Directories are better than files in them,
// because programs add files.
var secrets = []string{
	// keys of people
	".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".kde/share/apps/kwallet",
	".gnome2/keyrings", ".config/op", ".1password", ".config/1Password", ".config/Bitwarden", ".config/keepassxc", ".age", ".config/sops",
	".bitcoin", ".ethereum", ".electrum", "Library/Keychains",
	// of clouds and their tools
	".aws", ".azure", ".oci", ".config/gcloud", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".config/scw", ".aliyun", ".ibmcloud",
	".kube", ".docker", ".config/containers", ".fly", ".config/netlify", ".vercel", ".local/share/com.vercel.cli", ".config/configstore",
	".terraform.d", ".terraformrc", ".vault-token", ".config/vault", ".pulumi", ".boto", ".s3cfg", ".config/rclone", ".mc", ".databrickscfg",
	".colima", ".lima", ".rd", ".orbstack", ".minikube",
	// of code hosts and registries
	".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub", ".config/tea",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".config/pypoetry/auth.toml", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet", ".dotnet/corefx",
	".composer/auth.json", ".config/composer/auth.json", ".hex",
	// of databases and mail
	".pgpass", ".my.cnf", ".mylogin.cnf", ".mongorc.js", ".msmtprc", ".mutt", ".config/neomutt", ".thunderbird", ".fetchmailrc",
	// browsers
	".mozilla", ".config/google-chrome", ".config/google-chrome-beta", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".config/vivaldi", ".config/opera", ".config/Slack", ".config/discord", ".config/Signal", ".var/app", "snap/firefox", "snap/chromium",
	"Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Cookies", "Library/Safari",
	// other agents and editors, which keep tokens
	".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".copilot", ".config/github-copilot", ".config/opencode", ".local/share/opencode",
	".config/goose", ".local/share/goose", ".local/share/crush", ".continue", ".aider.conf.yml", ".config/Code", ".config/Cursor", ".config/zed",
	// what was typed
	".bash_history", ".zsh_history", ".local/share/fish", ".python_history", ".psql_history", ".mysql_history", ".local/state",
}

// systemSecrets are hidden if the user, such as root, could read them.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/krb5.keytab", "/etc/ssl/private", "/etc/kubernetes", "/etc/rancher",
	"/etc/docker/key.json", "/etc/wireguard", "/etc/openvpn", "/etc/NetworkManager/system-connections", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_dsa_key",
	"/var/backups", "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/var/lib/rancher",
	"/var/lib/private", "/var/lib/NetworkManager", "/var/lib/sss", "/var/spool", "/var/mail", "/root",
}

// CanShow reports whether a cache, given by its real path, can be shown to commands: it is
// in no directory that is replaced for each sandbox, or hidden.
func CanShow(path string) bool {
	return !replaced(path) && !slices.ContainsFunc(systemSecrets, func(dir string) bool {
		return within(path, dir) && !slices.ContainsFunc(homes(), func(home string) bool { return within(path, home) })
	})
}

// replaced reports whether a path is in a directory that each sandbox has for itself.
func replaced(path string) bool {
	return slices.ContainsFunc([]string{"/run", "/var/run", "/tmp", "/var/tmp", "/dev", "/proc"}, func(dir string) bool { return within(path, dir) })
}

// maxMasks bounds the paths that are hidden.
const maxMasks = 512

// mask is a hidden path.
type mask struct {
	path string
	dir  bool
}

// hide returns the masks for the user's secrets and the given absolute paths: the real
// paths of those that exist, sorted, without paths inside another.
func hide(homes, further []string) ([]mask, error) {
	look := looker{}
	for _, home := range homes {
		look.directories = map[string]*seenFolder{"": seeFolder(home)}
		for _, s := range splitSecrets() {
			look.find(s.dir, s.name)
		}
	}
	for _, path := range systemSecrets {
		if !slices.Contains(homes, path) && unix.Access(path, unix.R_OK) == nil {
			look.add(resolve(path))
		}
	}
	for _, path := range further {
		look.add(resolve(path))
	}
	found := outermost(look.found)
	if len(found) > maxMasks {
		return nil, fmt.Errorf("more than %d files and directories must be hidden: hide the directories that contain them instead", maxMasks)
	}
	return found, nil
}

// entry is a path relative to a home directory: its directory and its name.
type entry struct{ dir, name string }

var splitSecrets = sync.OnceValue(func() []entry { return splitAll(secrets) })

func splitAll(paths []string) (list []entry) {
	for _, path := range paths {
		dir, name := filepath.Split(path)
		list = append(list, entry{strings.TrimSuffix(dir, "/"), name})
	}
	return list
}

// looker searches for files, most of which do not exist, and caches directories,
// because it runs before every command.
type looker struct {
	directories map[string]*seenFolder // by path relative to home; nil if they do not exist
	found       []mask
}

type seenFolder struct {
	path  string // without links
	names map[string]bool
	id    folderID
	racy  bool // see listing
}

// seenFolders caches the entries of directories; a changed one is read again.
var seenFolders sync.Map // path -> *seenFolder

// seeFolder returns the entries of a directory, or nil if it does not exist. Only the
// last element of the path may be a link.
func seeFolder(path string) *seenFolder {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		path = resolve(path)
		info, err = os.Lstat(path)
	}
	if err != nil || !info.IsDir() {
		return nil
	}
	id, changed, err := identify(path)
	if err != nil {
		return nil
	}
	if old, ok := seenFolders.Load(path); ok {
		if f := old.(*seenFolder); !f.racy && f.id == id {
			return f
		}
	}
	f := &seenFolder{path: path, id: id, racy: time.Since(changed) < surveyRace}
	f.names = names(path)
	seenFolders.Store(path, f)
	return f
}

// holds reports whether a directory may contain a name.
func (f *seenFolder) holds(name string) bool {
	return f != nil && (f.names == nil || f.names[name])
}

// directory returns a directory, given its path relative to home.
func (l *looker) directory(dir string) *seenFolder {
	f, ok := l.directories[dir]
	if !ok {
		parent, name := filepath.Split(dir)
		if above := l.directory(strings.TrimSuffix(parent, "/")); above.holds(name) {
			f = seeFolder(above.path + "/" + name)
		}
		l.directories[dir] = f
	}
	return f
}

// find adds a file if it exists.
func (l *looker) find(dir, name string) {
	if f := l.directory(dir); f.holds(name) {
		l.add(f.path + "/" + name)
	}
}

// add adds a file, or the target of a link. Only the last element of the path may be a
// link.
func (l *looker) add(path string) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		path = resolve(path)
		info, err = os.Lstat(path)
	}
	if err == nil {
		l.found = append(l.found, mask{path, info.IsDir()})
	}
}

// names returns the names in a directory, or nil if it cannot be read.
func names(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		return nil
	}
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// outermost sorts the masks and drops those inside another.
func outermost(masks []mask) []mask {
	slices.SortFunc(masks, func(a, b mask) int { return strings.Compare(a.path, b.path) })
	var kept []mask
	for _, m := range masks {
		if !slices.ContainsFunc(kept, func(k mask) bool { return within(m.path, k.path) }) {
			kept = append(kept, m)
		}
	}
	return kept
}
