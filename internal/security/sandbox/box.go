package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/pawl-dev/pawl"
)

// Profile says what a command may touch. Only Dir is needed. The secrets,
// names and variables that pawl itself knows of are always guarded; the lists
// here add to them.
type Profile struct {
	Dir      string   // the workspace, writable unless ReadOnly
	Work     string   // the directory in Dir to start in; "" means Dir
	ReadOnly bool     // nothing can be written but temporary files
	Writable []string // further directories to write to; they must exist
	Temp     string   // the directory for temporary files; "" means an empty one that goes with the sandbox

	// Hidden is what the command must not see: it finds an empty directory or file
	// instead. An absolute path is meant as it is; anything else is a pattern,
	// as of path.Match, for names anywhere in Dir.
	Hidden []string

	// Apart are directories of which the command sees no more than what of Dir,
	// Writable and Readable is in them: absolute paths. Hidden directories cannot hold
	// those; these can.
	Apart []string

	// Readable are directories that can be read wherever they are, and not written;
	// they must exist.
	Readable []string

	// Protected are names that cannot be written, wherever they are in Dir, or
	// paths from Dir. Those at its top cannot be created either; see Wrapped.Check
	// for the others.
	Protected []string

	// ProxySocket is the unix socket of an HTTP proxy: the only way out. ""
	// means that there is none.
	ProxySocket string

	// Env is "NAME=value", or "NAME" for the value that pawl itself has.
	Env []string

	// Pass are names of variables that the caller adds to Wrapped.Env: they
	// reach the command.
	Pass []string
}

// Request is a command that is to run for a session.
type Request struct {
	Session   pawl.SessionID
	Workspace string
	Mode      string // what the session may do unasked; see [pawl.Settings]
	Args      []string
	Dir       string   // the directory to start in
	Network   []string // hosts that it may reach: that was permitted
	Escape    bool     // it runs without a sandbox: that was permitted
	Boxed     bool     // it was permitted for a sandbox: if there is none, it must not run
}

// Sandbox runs commands in a confined way.
type Box interface {
	// Name is bubblewrap, landlock, seatbelt or none.
	Name() string

	// Wrap returns what to run instead of the command. An error means that the
	// profile cannot be kept; the command must then not be run.
	Wrap(argv []string, p Profile) (Wrapped, error)
}

// Wrapped is a command in its sandbox.
type Wrapped struct {
	Args []string

	// Env is the whole environment to start Args with, apart from what the
	// profile passes: a command can read what its sandbox was started with.
	Env []string

	// Files are file 3, 4 and so on of Args: exec.Cmd.ExtraFiles.
	Files []*os.File

	// Partial means that the workspace has more directories than are looked into:
	// names far down are neither hidden nor protected, and Check does not tell of
	// them.
	Partial bool

	// Check returns what should be protected and has come up in the workspace, or
	// changed, since Wrap: paths from Dir. Names far down that were not there
	// cannot be held back. It may be called while the command runs and after it,
	// before Close.
	Check func() ([]string, error)

	// Close is called when the command has ended, or was not started; a second
	// call does nothing. What the sandbox needed in the workspace goes a little later;
	// see Release.
	Close func()
}

// Unwrapped is a command as it is, in no sandbox.
func Unwrapped(args, env []string) Wrapped {
	return Wrapped{Args: args, Env: env, Check: func() ([]string, error) { return nil, nil }, Close: func() {}}
}

// ErrNoBox means that there is no sandbox on this machine.
var ErrNoBox = errors.New("no sandbox")

// ErrRefused means that a directory cannot be a workspace or be written to.
var ErrRefused = errors.New("refused")

// None is the sandbox of a machine that has none. It wraps nothing.
type None struct{ Why string }

var _ Box = None{}

// Name is none.
func (None) Name() string { return "none" }

// Wrap returns ErrNoBox: to run a command without a sandbox is for others to decide.
func (n None) Wrap([]string, Profile) (Wrapped, error) {
	return Wrapped{}, fmt.Errorf("%w: %s", ErrNoBox, n.Why)
}
