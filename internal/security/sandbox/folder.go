package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/fault"
)

// systemFolders cannot be workspaces themselves. Directories in them can, except for
// sealedFolders: many projects are in /opt/app, /srv/www or /usr/src/app.
var systemFolders = []string{
	"/", "/Applications", "/Library", "/System", "/Users", "/Volumes",
	"/bin", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt", "/nix", "/nix/store", "/opt",
	"/private", "/private/etc", "/private/tmp", "/private/var", "/root", "/run", "/sbin", "/srv", "/tmp",
	"/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local", "/usr/local/bin",
	"/usr/local/lib", "/usr/local/sbin", "/usr/sbin", "/usr/share", "/usr/src",
	"/var", "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp",
}

// sealedFolders belong to the kernel: nothing in them can be a workspace.
var sealedFolders = []string{"/boot", "/dev", "/proc", "/sys"}

// homes returns the user's home directories, by HOME and by the user database.
func homes() []string {
	var list []string
	add := func(dir string) {
		if path := resolve(dir); filepath.IsAbs(path) && path != "/" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	add(os.Getenv("HOME"))
	add(accountHome())
	return list
}

var accountHome = sync.OnceValue(func() string {
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
})

// directory returns the real path of a directory that a sandbox may write to, or an
// error if it may not.
func directory(what, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fault.New(ErrRefused, "%s %q is not an absolute path", what, dir)
	}
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fault.New(ErrRefused, "%s %s is not a directory", what, path)
	}
	if path == "/" {
		return "", fault.New(ErrRefused, "%s %s is the root directory: use a directory inside it", what, path)
	}
	for _, home := range homes() {
		if within(home, path) {
			return "", fault.New(ErrRefused, "%s %s contains your home directory: use a directory inside it", what, path)
		}
	}
	if slices.Contains(systemFolders, path) {
		return "", fault.New(ErrRefused, "%s %s is a system directory: use a directory inside it", what, path)
	}
	for _, sealed := range sealedFolders {
		if within(path, sealed) {
			return "", fault.New(ErrRefused, "%s %s is in %s, where the sandbox does not allow writing", what, path, sealed)
		}
	}
	return path, nil
}

// within reports whether a clean path is parent or below it.
func within(path, parent string) bool {
	return parent == "/" || strings.HasPrefix(path, parent) && (len(path) == len(parent) || path[len(parent)] == '/')
}

// CheckDir returns an error unless a sandbox may write to a directory, which is given by
// its real path.
func CheckDir(what, dir string) error {
	path, err := directory(what, dir)
	if err == nil && path != dir {
		err = fault.New(ErrRefused, "%s %s is a link: use %s", what, dir, path)
	}
	return err
}
