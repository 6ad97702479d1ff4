package trust

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxHelpers bounds the settings of one repository that run programs.
const maxHelpers = 200

// git adds what a repository's configuration and hooks would make git run. Pawl's own
// git calls run none of it, but git commands of the model would.
func (s *surveyor) git(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return s.gitDir(root, name)
	}
	p := Part{Kind: KindGit, Path: name, Executable: true, Does: "makes git use the configuration of another repository"}
	return s.file(root, name, info, p)
}

// gitDir adds the parts of a git directory. Their paths are the same wherever it
// is.
func (s *surveyor) gitDir(root *os.Root, dir string) error {
	for _, name := range []string{"config", "config.worktree"} {
		if err := s.gitConfig(root, path.Join(dir, name), ".git/"+name); err != nil {
			return err
		}
	}
	hooksDir := path.Join(dir, "hooks")
	if info, err := root.Lstat(hooksDir); err == nil && !info.IsDir() {
		return s.file(root, hooksDir, info, Part{Kind: KindGit, Path: ".git/hooks", Executable: true, Does: "is the directory of git hooks"})
	}
	hooks, err := entries(root, hooksDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range hooks {
		if strings.HasSuffix(name, ".sample") {
			continue
		}
		info, err := root.Lstat(path.Join(hooksDir, name))
		if err != nil {
			return err
		}
		p := Part{Kind: KindGit, Path: ".git/hooks/" + name, Executable: true, Does: "is run by git"}
		if err := s.file(root, path.Join(hooksDir, name), info, p); err != nil {
			return err
		}
	}
	return nil
}

// gitConfig adds the settings of a configuration that run programs.
func (s *surveyor) gitConfig(root *os.Root, file, shown string) error {
	f, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fault.New(pawl.ErrInvalid, "%s is not a regular file", shown))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fault.New(pawl.ErrInvalid, "%s is too large", shown)
	}
	helpers := gitHelpers(string(text))
	if len(helpers) > maxHelpers {
		return fault.New(pawl.ErrInvalid, "%s has more than %d settings that run programs", shown, maxHelpers)
	}
	for _, h := range helpers {
		err := s.add(Part{Kind: KindGit, Path: shown, Does: h.does + ": " + h.key + " = " + cut(h.value), Executable: true, Hash: HashOf(h.key, h.value)})
		if err != nil {
			return err
		}
	}
	return nil
}

func cut(s string) string {
	if len(s) > 200 {
		return s[:200] + " …"
	}
	return s
}

// helper is a git setting that runs a program, or may.
type helper struct{ key, value, does string }

// gitHelpers returns the settings of a git configuration that run programs. It need
// not be exact: an additional key is only shown.
func gitHelpers(text string) []helper {
	var found []helper
	section := ""
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", ""), "\\\n", "") // a line goes on
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			end := strings.LastIndexByte(l, ']')
			if end < 0 {
				continue
			}
			section, l = l[1:end], strings.TrimSpace(l[end+1:]) // a key may follow on the same line
		}
		if l == "" || l[0] == '#' || l[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(l, "=")
		name, middle, _ := strings.Cut(section, " ")
		name, key, value = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if first, rest, ok := strings.Cut(name, "."); ok { // the old way to write [a "b"]
			name, middle = first, rest
		}
		if what := gitDoes(name, key, value); what != "" {
			full := name + "." + strings.Trim(strings.TrimSpace(middle), `"`) + "." + key
			found = append(found, helper{strings.ReplaceAll(full, "..", "."), value, what})
		}
	}
	return found
}

// gitDoes describes what a setting would make git run, or returns "".
func gitDoes(section, key, value string) string {
	program := []string{
		"fsmonitor", "sshcommand", "gitproxy", "pager", "editor", "askpass", "alternaterefscommand", "helper", "external", "textconv", "command", "cmd",
		"clean", "smudge", "process", "driver", "program", "defaultkeycommand", "uploadpack", "receivepack", "difffilter", "vcs", "packobjectshook",
	}
	switch {
	case section == "include", section == "includeif":
		return "makes git read more configuration"
	case section == "core" && key == "hookspath":
		return "makes git run hooks from another directory"
	case section == "core" && key == "fsmonitor" && slices.Contains([]string{"", "true", "false", "0", "1"}, strings.ToLower(value)):
		return ""
	case section == "core" && key == "worktree":
		return "makes git work in another directory"
	case section == "alias" && strings.HasPrefix(strings.TrimLeft(value, `"`), "!"), section == "pager", section == "hook":
		return "makes git run a program"
	case section == "submodule" && key == "update" && strings.HasPrefix(strings.TrimLeft(value, `"`), "!"):
		return "makes git run a program"
	case section == "url" && strings.HasSuffix(key, "insteadof"), section == "http" && strings.HasSuffix(key, "proxy"), section == "protocol":
		return "makes git connect to other addresses or in other ways"
	case slices.Contains(program, key):
		return "makes git run a program"
	}
	return ""
}
