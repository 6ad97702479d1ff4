package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
)

// maxOwnTime bounds one use of git in a repository of pawl, which may
// take in or clean up gigabytes.
const maxOwnTime = 10 * time.Minute

// Own is a bare repository that pawl keeps for itself. It has no worktree, and
// its configuration is ours; what is stored in it is untrusted.
type Own struct {
	dir string
	git *Git
}

// ownCommands are what can be run in a repository of pawl.
var ownCommands = map[string][]string{
	"cat-file":       nil,
	"diff-tree":      {"--no-ext-diff", "--no-textconv", "--no-color"},
	"index-pack":     nil,
	"ls-tree":        nil,
	"prune":          nil,
	"repack":         nil,
	"rev-list":       nil,
	"unpack-objects": nil,
}

// Own returns the repository in a directory of pawl. Nothing is read or
// made yet.
func (g *Git) Own(dir string) *Own { return &Own{dir: dir, git: g} }

// Init makes the repository if it does not exist: ids are SHA-1, refs are files.
func (o *Own) Init(ctx context.Context) error {
	args := []string{"init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=none", o.dir}
	env := append(o.git.environment(nil, nil), "GIT_DEFAULT_REF_FORMAT=files")
	_, err := o.git.exec(ctx, "/", env, args, 1<<10)
	return err
}

// OwnCall is one use of git in a repository of pawl.
type OwnCall struct {
	Args  []string              // the command, one of the table, with options and ids in our own words
	Paths []string              // taken literally; they stand behind --
	In    io.Reader             // what git reads; nil is nothing
	Out   func(io.Reader) error // reads what git prints, as it comes; nil reads nothing
	Hold  *os.File              // stays open as long as git runs, also if pawl dies: a lock; nil is none
}

// errEnough is why git was ended: its reader wants no more.
var errEnough = errors.New("enough")

// Run runs git. If Out returns before the end of what git prints, git is ended
// and that is no error.
func (o *Own) Run(ctx context.Context, c OwnCall) error {
	if len(c.Args) == 0 {
		return fmt.Errorf("git: no command: %w", pawl.ErrInvalid)
	}
	options, ok := ownCommands[c.Args[0]]
	if !ok {
		return fmt.Errorf("git: pawl does not run the command %q in its own repositories: %w", c.Args[0], pawl.ErrInvalid)
	}
	args := slices.Concat(c.Args[:1], options, c.Args[1:])
	if len(c.Paths) > 0 {
		args = append(append(args, "--"), c.Paths...)
	}
	ctx, cancel := context.WithTimeout(ctx, maxOwnTime)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, o.git.bin, args...) //nolint:gosec // no shell; the words are ours
	cmd.Dir, cmd.Env = o.dir, append(o.git.environment(nil, nil), "GIT_DIR="+o.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stdin = c.In
	faults := &bounded{limit: maxErrors}
	cmd.Stderr = faults
	if c.Hold != nil {
		cmd.ExtraFiles = []*os.File{c.Hold}
	}
	if c.Out == nil {
		return ended(ctx, args[0], cmd.Run(), faults)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	readErr := c.Out(out)
	if readErr != nil {
		stop(errEnough)
	} else if n, err := out.Read(make([]byte, 1)); n > 0 || err == nil {
		stop(errEnough) // there is more, which nobody reads
	}
	err = ended(ctx, args[0], cmd.Wait(), faults)
	if readErr != nil {
		return errors.Join(readErr, err)
	}
	return err
}

// ended says how a run of git ended.
func ended(ctx context.Context, name string, err error, faults *bounded) error {
	switch {
	case err == nil || errors.Is(context.Cause(ctx), errEnough):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", name, ctx.Err())
	}
	return failure(name, err, faults.kept.String())
}
