package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxTime   = time.Minute
	maxOutput = 16 << 20 // default of Call.Limit
	maxErrors = 4 << 10
	maxConfig = 1 << 20 // bytes of the configuration's key names
)

// Call is one git command in a repository. Untrusted names belong in Refs and
// Paths, where git cannot take them for options.
type Call struct {
	Args  []string // a command of the table commands, and its options; never untrusted text
	Refs  []string // checked by CheckRef and passed after --end-of-options
	Paths []string // relative to the top of the worktree, literal, passed after --

	In  io.Reader // git's standard input; nil means empty
	Out io.Writer // receives git's whole output, which Run then does not return; nil means Run returns it

	// Apart is an empty directory of pawl that git uses as the worktree and for the
	// index; "" means those of the repository.
	Apart string

	Limit     int      // bytes of output; more is an error; 0 means 16 MiB
	Protocols []string // network protocols that git may use, of https and ssh; none means no network

	settings []setting // in addition to neutral
}

// command holds the safety options of a git command.
type command struct {
	options []string // added to each call
	paths   bool     // the command separates refs from paths by --
}

var diffs = []string{"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color"}

// commands are the git commands that Run accepts. All are built into git, so no
// alias can replace one. Their options skip submodules, where git would run with
// the submodule's own configuration.
var commands = map[string]command{
	"add":            {paths: true},
	"cat-file":       {},
	"checkout-index": {paths: true},
	"commit":         {options: []string{"--no-verify", "--no-gpg-sign"}, paths: true},
	"commit-tree":    {options: []string{"--no-gpg-sign"}},
	"diff":           {options: diffs, paths: true},
	"diff-files":     {options: diffs, paths: true},
	"diff-index":     {options: diffs, paths: true},
	"diff-tree":      {options: diffs, paths: true},
	"fetch":          {options: []string{"--no-recurse-submodules", "--no-auto-gc"}},
	"for-each-ref":   {},
	"hash-object":    {options: []string{"--no-filters"}},
	"index-pack":     {},
	"log":            {options: append(diffs[:len(diffs):len(diffs)], "--no-show-signature"), paths: true},
	"ls-files":       {paths: true},
	"ls-tree":        {paths: true},
	"merge-base":     {},
	"merge-tree":     {},
	"pack-objects":   {},
	"read-tree":      {},
	"rev-list":       {},
	"rev-parse":      {},
	"show":           {options: append(diffs[:len(diffs):len(diffs)], "--no-show-signature"), paths: true},
	"status":         {options: []string{"--ignore-submodules=all"}, paths: true},
	"symbolic-ref":   {},
	"update-index":   {paths: true},
	"update-ref":     {},
	"worktree":       {},
	"write-tree":     {},
}

// Run runs git and returns its output. It runs no program that the project
// configures: no hook, filter, pager, editor or helper.
func (r *Repo) Run(ctx context.Context, c Call) ([]byte, error) {
	for _, ref := range c.Refs {
		if err := CheckRef(ref); err != nil {
			return nil, err
		}
	}
	for _, path := range c.Paths {
		if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
			return nil, fault.New(pawl.ErrInvalid, "%q is not a valid path in the repository", path)
		}
	}
	for _, p := range c.Protocols {
		if p != "https" && p != "ssh" {
			return nil, fault.New(pawl.ErrDenied, "git does not connect to the network with %q: use https or ssh", p)
		}
	}
	return r.run(ctx, c)
}

// run is Run without checking refs, paths and protocols.
func (r *Repo) run(ctx context.Context, c Call) ([]byte, error) {
	args, err := c.line()
	if err != nil {
		return nil, err
	}
	limit := c.Limit
	if limit == 0 {
		limit = maxOutput
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	// Reading the configuration runs no programs. The repository chooses the names
	// of its keys, so read them before each call.
	keys, err := r.git.exec(ctx, r.Top, r.git.environment(r, nil), []string{"config", "--list", "--show-scope", "--name-only", "-z"}, maxConfig)
	if err != nil {
		return nil, err
	}
	settings, err := mute(foreign(string(keys)), len(c.Protocols) > 0)
	if err != nil {
		return nil, err
	}
	settings = append(settings, c.settings...)
	if c.Apart != "" {
		// The last value of a setting wins, also in the environment.
		env := r.git.environment(r, c.Protocols, slices.Concat(settings, apart)...)
		return r.git.pipe(ctx, c.Apart, append(env, "GIT_WORK_TREE="+c.Apart, "GIT_INDEX_FILE="+filepath.Join(c.Apart, "index")), args, c, limit)
	}
	return r.git.pipe(ctx, r.Top, r.git.environment(r, c.Protocols, settings...), args, c, limit)
}

// line returns the arguments of git.
func (c Call) line() ([]string, error) {
	if len(c.Args) == 0 {
		return nil, fault.New(pawl.ErrInvalid, "git: no command")
	}
	known, ok := commands[c.Args[0]]
	if !ok {
		return nil, fault.New(pawl.ErrInvalid, "git: Pawl does not run %q", c.Args[0])
	}
	args := slices.Concat(c.Args[:1], known.options, c.Args[1:])
	if len(c.Refs) > 0 {
		args = append(args, "--end-of-options")
		args = append(args, c.Refs...)
	}
	if len(c.Paths) > 0 || known.paths && c.In == nil {
		args = append(append(args, "--"), c.Paths...)
	}
	return args, nil
}

// environment returns the complete environment of git. It passes the settings as
// variables and not with -c, which does not support names that contain "=".
func (g *Git) environment(r *Repo, protocols []string, settings ...setting) []string {
	ssh := "false"
	if slices.Contains(protocols, "ssh") {
		ssh = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oPermitLocalCommand=no -oProxyCommand=none -oClearAllForwardings=yes"
	}
	env := []string{
		"PATH=" + filepath.Dir(g.bin) + ":/usr/bin:/bin",
		"HOME=/dev/null", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_SSH_COMMAND=" + ssh,
		"GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=" + strings.Join(protocols, ":"), "GIT_PROTOCOL_FROM_USER=0",
	}
	if r != nil {
		env = append(env, "GIT_DIR="+r.Dir, "GIT_COMMON_DIR="+r.Common, "GIT_WORK_TREE="+r.Top, "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.Top))
	}
	if len(protocols) > 0 {
		for _, name := range []string{"SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"} {
			if value, ok := os.LookupEnv(name); ok {
				env = append(env, name+"="+value)
			}
		}
	}
	all := slices.Concat(neutral, []setting{{"core.sshCommand", ssh}}, settings)
	for i, s := range all {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(all)))
}

// exec runs git in dir and returns its output. When ctx ends or the output exceeds
// limit bytes, it kills git and the processes that git started.
func (g *Git) exec(ctx context.Context, dir string, env, args []string, limit int) ([]byte, error) {
	return g.pipe(ctx, dir, env, args, Call{}, limit)
}

// pipe is exec with the input and the output writer of a call.
func (g *Git) pipe(ctx context.Context, dir string, env, args []string, c Call, limit int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.bin, args...) //nolint:gosec // no shell; Call.line builds the arguments
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, faults := &bounded{limit: limit, full: cancel}, &bounded{limit: maxErrors}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, out, faults
	if c.Out != nil {
		cmd.Stdout = c.Out
	}
	err := cmd.Run()
	switch {
	case out.passed:
		return nil, fault.New(pawl.ErrInvalid, "git %s: more than %d bytes of output", args[0], limit)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case err != nil:
		return nil, failure(args[0], err, faults.kept.String())
	}
	return out.kept.Bytes(), nil
}

// Failed means that git ran and exited with a nonzero code.
type Failed struct {
	Command string
	Code    int
	Says    string // standard error: untrusted text
}

func (e *Failed) Error() string {
	if e.Says == "" {
		return fmt.Sprintf("git %s: exit %d", e.Command, e.Code)
	}
	return fmt.Sprintf("git %s: exit %d: %q", e.Command, e.Code, e.Says)
}

func failure(name string, err error, says string) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return &Failed{Command: name, Code: exit.ExitCode(), Says: strings.TrimSpace(says)}
	}
	return fmt.Errorf("git %s: %w", name, err)
}

// bounded keeps up to limit bytes that are written to it, and calls full when there
// are more.
type bounded struct {
	kept   bytes.Buffer // not embedded: its ReadFrom would bypass the limit
	limit  int
	full   func()
	passed bool
}

func (b *bounded) Write(p []byte) (int, error) {
	budget := b.limit - b.kept.Len()
	if len(p) <= budget {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:budget])
	if b.full != nil && !b.passed {
		b.full()
	}
	b.passed = true
	return len(p), nil
}
