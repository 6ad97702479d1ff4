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
)

const (
	maxTime   = time.Minute
	maxOutput = 16 << 20 // unless a call says otherwise
	maxErrors = 4 << 10
	maxConfig = 1 << 20 // of the names of a configuration's keys
)

// Call is one use of git in a repository. What a third party has named goes into
// Refs and Paths, where it can be nothing but a ref or a path.
type Call struct {
	Args  []string // the command, one of the table, and options in our own words
	Refs  []string // checked by CheckRef; they stand behind --end-of-options
	Paths []string // from the top of the worktree, taken literally; they stand behind --

	In  io.Reader // what git reads; nil is nothing
	Out io.Writer // gets what git prints, all of it, in place of Run's result; nil is none

	Apart string // an empty directory of pawl, which git takes for the worktree and has its index in; "" means the repository's own

	Limit     int      // bytes of output that are read; more is an error. 0 means 16 MiB
	Protocols []string // the network is reached by these, of https and ssh; none means not at all

	settings []setting // beside the usual
}

// command says what goes with a command of git.
type command struct {
	options []string // said each time
	paths   bool     // it tells paths from refs by --
}

var diffs = []string{"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color"}

// commands are what can be run. All are git's own, so no alias can take the
// place of one. Submodules are left alone: git would run in each by what its
// configuration says.
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

// Run runs git and returns what it prints. Nothing of a project is
// run: no hook, filter, pager, editor, helper.
func (r *Repo) Run(ctx context.Context, c Call) ([]byte, error) {
	for _, ref := range c.Refs {
		if err := CheckRef(ref); err != nil {
			return nil, err
		}
	}
	for _, path := range c.Paths {
		if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
			return nil, fmt.Errorf("%q is no path in the repository: %w", path, pawl.ErrInvalid)
		}
	}
	for _, p := range c.Protocols {
		if p != "https" && p != "ssh" {
			return nil, fmt.Errorf("git does not reach the network by %q: use https or ssh: %w", p, pawl.ErrDenied)
		}
	}
	return r.run(ctx, c)
}

// run is Run for refs that are known to be good.
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
	// Reading the configuration runs nothing. Its keys have names that the
	// repository has chosen, so they are looked up before each call.
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
		// The last of two settings of a name counts, in the environment too.
		env := r.git.environment(r, c.Protocols, slices.Concat(settings, apart)...)
		return r.git.pipe(ctx, c.Apart, append(env, "GIT_WORK_TREE="+c.Apart, "GIT_INDEX_FILE="+filepath.Join(c.Apart, "index")), args, c, limit)
	}
	return r.git.pipe(ctx, r.Top, r.git.environment(r, c.Protocols, settings...), args, c, limit)
}

// line returns the whole command line.
func (c Call) line() ([]string, error) {
	if len(c.Args) == 0 {
		return nil, fmt.Errorf("git: no command: %w", pawl.ErrInvalid)
	}
	known, ok := commands[c.Args[0]]
	if !ok {
		return nil, fmt.Errorf("git: pawl does not run the command %q: %w", c.Args[0], pawl.ErrInvalid)
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

// environment is all that git gets from outside. Settings stand here and not
// behind -c: a name with "=" in it could not be given there.
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

// exec runs git in a directory and returns what it prints, up to a limit. All that
// it has started is killed when the context ends, or the limit is passed.
func (g *Git) exec(ctx context.Context, dir string, env, args []string, limit int) ([]byte, error) {
	return g.pipe(ctx, dir, env, args, Call{}, limit)
}

// pipe is exec with what a call gives git to read, and where its output goes.
func (g *Git) pipe(ctx context.Context, dir string, env, args []string, c Call, limit int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.bin, args...) //nolint:gosec // no shell; the words are made in Call.line
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
		return nil, fmt.Errorf("git %s: more than %d bytes of output: %w", args[0], limit, pawl.ErrInvalid)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case err != nil:
		return nil, failure(args[0], err, faults.kept.String())
	}
	return out.kept.Bytes(), nil
}

// Failed is git's own no: it ran, and ended with this code.
type Failed struct {
	Command string
	Code    int
	Says    string // what it printed about it: untrusted text
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

// bounded keeps what is written to it, up to a limit; then it calls full.
type bounded struct {
	kept   bytes.Buffer // not embedded: its ReadFrom knows no limit
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
