package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxSmall bounds the files that are read to find protected paths, in bytes.
const maxSmall = 1 << 20

// gitConfigPaths returns the hooks directory and the included files of a repository
// configuration. A relative hooks path is resolved from the worktree.
func gitConfigPaths(config, worktree string) []string {
	var paths []string
	eachSetting(config, func(key, value string) {
		switch key {
		case "core.hookspath":
			paths = append(paths, expand(value, worktree))
		case "include.path", "includeif.path":
			paths = append(paths, expand(value, filepath.Dir(config)))
		}
	})
	return paths
}

// eachSetting calls do for each setting of a git configuration, with its section and name
// in lower case. A file that cannot be read has none.
func eachSetting(config string, do func(key, value string)) {
	text, err := readSmall(config)
	if err != nil {
		return
	}
	section := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			end := strings.IndexByte(l, ']')
			if end < 0 {
				continue
			}
			section, _, _ = strings.Cut(strings.ToLower(l[1:end]), " ")
			l = strings.TrimSpace(l[end+1:]) // a key may follow on the same line
		}
		key, value, _ := strings.Cut(l, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if value != "" {
			do(section+"."+strings.ToLower(strings.TrimSpace(key)), value)
		}
	}
}

// expand makes a path of a configuration absolute.
func expand(path, from string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(from, path)
}

// readSmall reads a regular file. It does not block on a pipe in a workspace.
func readSmall(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSmall {
		return "", fmt.Errorf("%s is too large or not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSmall))
	return string(data), err
}
