package mission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// project is a repository on a forge.
type project struct {
	forge string // github or gitlab
	host  string
	path  string // owner/name
}

// program returns the name of the forge's command-line program.
func (p project) program() string {
	return map[string]string{forgeGitHub: "gh", forgeGitLab: "glab"}[p.forge]
}

const (
	forgeGitHub = "github"
	forgeGitLab = "gitlab"
)

// forgeOf returns which forge runs on a host, or "" if that is not known: hosts whose first or second label says so,
// and those that the variables of gh and glab name.
func forgeOf(host string) string {
	switch {
	case host == "":
		return ""
	case host == os.Getenv("GH_HOST"):
		return forgeGitHub
	case host == os.Getenv("GITLAB_HOST"):
		return forgeGitLab
	}
	for i, label := range strings.Split(host, ".") {
		if i < 2 && (label == forgeGitHub || label == forgeGitLab) {
			return label
		}
	}
	return ""
}

// projectOf returns the project that the address of a remote names. ok is false if it is none that Pawl knows.
func projectOf(address string) (p project, ok bool) {
	u, err := git.CheckURL(address)
	if err != nil || forgeOf(u.Host) == "" {
		return p, false
	}
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	return project{forge: forgeOf(u.Host), host: u.Host, path: path}, strings.Contains(path, "/")
}

// userProgram is a program that runs as the user would run it: with the user's environment, credentials and settings. It
// is never one of the project.
type userProgram struct {
	name, path string
	dir        string
	in         io.Reader // nil means empty
	log        io.Writer // its standard error
}

// maxUserOutput bounds the output of a user's program, and maxUserTime its time.
const (
	maxUserOutput = 1 << 20
	maxUserTime   = 5 * time.Minute
)

// findProgram returns a program of the user in PATH. The error is pawl.ErrNotFound if it is not installed.
func findProgram(name, dir string, log io.Writer) (userProgram, error) {
	path, err := git.Program(name, dir)
	return userProgram{name: name, path: path, dir: dir, log: log}, err
}

// run runs the program and returns its output.
func (p userProgram) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxUserTime)
	defer cancel()
	out := &limitedBuffer{}
	cmd := exec.CommandContext(ctx, p.path, args...) //nolint:gosec // no shell, and callers check the arguments
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, p.in, out, p.log
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w", p.name, args[0], err)
	}
	return out.String(), nil
}

// limitedBuffer is a buffer that fails beyond maxUserOutput.
type limitedBuffer struct{ strings.Builder }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxUserOutput {
		return 0, errors.New("too much output")
	}
	return b.Builder.Write(p)
}

// remoteURL returns the address of a remote, as git resolves it.
func remoteURL(ctx context.Context, vcs userProgram, remote string) (string, error) {
	if err := git.CheckRef(remote); err != nil {
		return "", fault.New(pawl.ErrInvalid, "invalid name of a remote %.100q", remote)
	}
	out, err := vcs.run(ctx, "remote", "get-url", remote)
	return strings.TrimSpace(out), err
}

// shellLine returns a command as a user can paste it into a shell.
func shellLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil { // a NUL byte, which no argument has
			q = "?"
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " ")
}
