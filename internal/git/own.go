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
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxOwnTime bounds one git command in a repository of pawl. It may have to store
// or clean up gigabytes.
const maxOwnTime = 10 * time.Minute

// Own is a bare repository that pawl owns, such as a snapshot store. It has no
// worktree, and its configuration is trusted, but its content is not.
type Own struct {
	dir string
	git *Git
}

// ownCommands are the git commands that Own.Run accepts, with their safety options.
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

// Own returns the repository at dir. It does not read or create anything.
func (g *Git) Own(dir string) *Own { return &Own{dir: dir, git: g} }

// Init creates the repository if it does not exist, with SHA-1 object ids and refs
// in files.
func (o *Own) Init(ctx context.Context) error {
	args := []string{"init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=none", o.dir}
	env := append(o.git.environment(nil, nil), "GIT_DEFAULT_REF_FORMAT=files")
	_, err := o.git.exec(ctx, "/", env, args, 1<<10)
	return err
}

// OwnCall is one git command in a repository of pawl.
type OwnCall struct {
	Args  []string              // a command of ownCommands, options and ids; never untrusted text
	Paths []string              // literal, passed after --
	In    io.Reader             // git's standard input; nil means empty
	Out   func(io.Reader) error // reads git's output as it is printed; nil discards it
	Hold  *os.File              // a lock file that git inherits: it stays locked while git runs, even if pawl dies; may be nil
}

// errEnough is the cause for stopping git when Out reads no further.
var errEnough = errors.New("enough")

// Run runs git. If Out returns before the end of git's output, Run kills git; that
// is no error.
func (o *Own) Run(ctx context.Context, c OwnCall) error {
	if len(c.Args) == 0 {
		return fault.New(pawl.ErrInvalid, "git: no command")
	}
	options, ok := ownCommands[c.Args[0]]
	if !ok {
		return fault.New(pawl.ErrInvalid, "git: Pawl does not run %q in its own repositories", c.Args[0])
	}
	args := slices.Concat(c.Args[:1], options, c.Args[1:])
	if len(c.Paths) > 0 {
		args = append(append(args, "--"), c.Paths...)
	}
	ctx, cancel := context.WithTimeout(ctx, maxOwnTime)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, o.git.bin, args...) //nolint:gosec // no shell; trusted arguments
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
		stop(errEnough) // Out has not read all of the output
	}
	err = ended(ctx, args[0], cmd.Wait(), faults)
	if readErr != nil {
		return errors.Join(readErr, err)
	}
	return err
}

// ended returns the error of a finished git command.
func ended(ctx context.Context, name string, err error, faults *bounded) error {
	switch {
	case err == nil || errors.Is(context.Cause(ctx), errEnough):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", name, ctx.Err())
	}
	return failure(name, err, faults.kept.String())
}
