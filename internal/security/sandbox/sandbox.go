package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// Profile tells what a command may access. Only Dir is required. The lists add to the
// secrets, names and variables that are always protected.
type Profile struct {
	Dir      string   // the workspace, writable unless ReadOnly
	Work     string   // the directory in Dir or Dirs to start in; "" means Dir
	ReadOnly bool     // nothing can be written but temporary files
	Writable []string // further directories to write to; they must exist
	Temp     string   // the directory for temporary files; "" means an empty one that is removed with the sandbox

	// Dirs are further project directories, outside of Dir. They are copy-on-write if
	// Views has one for them, and otherwise read-only. The command may start in them.
	Dirs []string

	// Views makes directories copy-on-write: the command sees them, and what it writes
	// goes elsewhere. The first view is that of Dir, the others are those of Dirs, and that
	// of the repository if Dir is a linked worktree.
	// Protected and Check do not apply with a view.
	Views []View

	// CacheHome is the cache directory of the command, which it can write; "" means one among its temporary files.
	CacheHome string

	// Caches are further directories that are copy-on-write, outside of Dir and Dirs.
	Caches []View

	// Indexed returns the content of hidden files of a directory that git has in its
	// index, by path: a view shows that instead, so that git does not take them for
	// deleted. It may be nil.
	Indexed func(dir string, paths []string) map[string][]byte

	// Hidden are files and directories that are replaced by empty ones. An entry is an
	// absolute path, or a pattern of path.Match for names anywhere in Dir.
	Hidden []string

	// Apart are directories, as absolute paths, in which only Dir, Writable and Readable
	// are visible. Unlike Hidden directories, they may contain those.
	Apart []string

	// Readable are directories that can be read wherever they are, and not written;
	// they must exist.
	Readable []string

	// Protected are names anywhere in Dir, or paths relative to it, that cannot be
	// written. Those at its top cannot be created either; see Wrapped.Check for the
	// others.
	Protected []string

	// ProxySocket is the unix socket of an HTTP proxy, the only network access. "" means
	// no network.
	ProxySocket string

	// Env is "NAME=value", or "NAME" for the value that pawl itself has.
	Env []string

	// Pass are the names of variables that the caller adds to Wrapped.Env, and that the
	// command gets too.
	Pass []string

	// renames makes renames of directories work in a workspace that is an overlay, which
	// refuses those of its lower layers. A View has it always; tests set it without one.
	renames bool
}

// View has the directories of a copy-on-write view. They exist, are empty and belong to
// Pawl.
type View struct {
	Dir    string // the directory that it shows, its real path
	Lower  string // the directory with the content to show in Dir instead of its own; "" means Dir
	Mask   string // what is hidden in it
	Upper  string // what the command writes
	Work   string // on the file system of Upper, for the kernel
	Merged string // where the view is mounted, in the sandbox only

	// Fill, if it is not nil, fills Merged with a copy of Dir without what Mask hides, which is
	// used instead of an overlay. It returns the mount points in Dir: the command sees those
	// as they are, and cannot write there.
	Fill func() (mounts []string, err error)
}

// Request is a command to run for a session.
type Request struct {
	Session   pawl.SessionID
	Call      pawl.CallID
	Workspace string
	Dirs      []string // further project directories
	Mode      string   // the permission mode of the session; see [pawl.Settings]
	Args      []string
	Dir       string   // the directory to start in
	Network   []string // hosts that it is permitted to reach
	Job       bool     // it runs beside other commands of the session, until it is stopped
	Escape    bool     // it is permitted to run without a sandbox
	Sandboxed bool     // it is permitted in a sandbox only: if none exists, it must not run
	Review    bool     // its changes need approval: if it could change more than a view, it must not run
}

// Backend is an implementation of the sandbox.
type Backend interface {
	// Name returns bubblewrap, landlock, seatbelt or none.
	Name() string

	// Wrap returns what to run instead of the command. After an error, which means that
	// the profile cannot be enforced, the command must not run.
	Wrap(argv []string, p Profile) (Wrapped, error)
}

// Viewer is a Backend that can show the workspace as a copy-on-write view.
type Viewer interface {
	// TryView runs a command with the profile, which has a view, to test whether this
	// machine can show the workspace so.
	TryView(ctx context.Context, p Profile) error
}

// Wrapped is a command in its sandbox.
type Wrapped struct {
	Args []string

	// Env is the whole environment to start Args with, except for Profile.Pass. Do not
	// add to it: a command can read the environment of its sandbox.
	Env []string

	// Files are file descriptors 3, 4 and so on of Args: exec.Cmd.ExtraFiles.
	Files []*os.File

	// Attr has the namespaces to start Args in; nil means those of Pawl.
	Attr *syscall.SysProcAttr

	// Partial means that the workspace has more directories than are searched: deep
	// names are neither hidden nor protected, and Check does not report them.
	Partial bool

	// Notice, if it is not "", tells the user that the command has less protection than
	// elsewhere. Show it once for each session.
	Notice string

	// Repository has the directories outside of the workspace that belong to its git
	// repository, and that the command writes to directly.
	Repository []string

	// Check returns the protected paths, relative to Dir, that were created or changed
	// in the workspace since Wrap: the sandbox cannot prevent the creation of deep
	// names. It may be called while the command runs and after it, before Close.
	Check func() ([]string, error)

	// Finish, if it is not nil, applies what the command has changed in its view; see
	// [View]. Call it after the command, instead of Check and before Close. If review is
	// not nil and there is something to apply, review is called first, and after an error
	// of it nothing is applied.
	Finish func(ctx context.Context, review func([]Changes) error) (Outcome, error)

	// Follow, if it is not nil, keeps the view and the workspace up to date with each other
	// while the command runs as a job with this process id, until Finish or Close.
	Follow func(pid int)

	// Close releases the sandbox. Call it when the command has ended, or was not
	// started; a second call does nothing. Placeholders in the workspace are removed a
	// little later; see Release.
	Close func()
}

// OnClose lets Close call a function after it has released the sandbox.
func (w *Wrapped) OnClose(do func()) {
	release := w.Close
	w.Close = func() {
		release()
		do()
	}
}

// Changes are what a command has changed in a view and may be applied.
type Changes struct {
	Dir     string // the directory of the view; "" is the workspace
	List    []tree.Change
	Refused []Refusal // changes that will not be applied
	Old     string    // the directory with the old entries
	New     string    // the directory with the new entries
}

// Outcome says what a command in a view has changed.
type Outcome struct {
	Applied []tree.Change
	Refused []Refusal
}

// Refusal is a change that was not applied.
type Refusal struct {
	Path   string // relative to the workspace, absolute in further project directories
	Reason string
	Kept   string // a file with the content that was not applied, or ""
}

// Unwrapped returns a command without a sandbox.
func Unwrapped(args, env []string) Wrapped {
	return Wrapped{Args: args, Env: env, Check: func() ([]string, error) { return nil, nil }, Close: func() {}}
}

// ErrNoSandbox means that there is no sandbox on this machine.
var ErrNoSandbox = errors.New("no sandbox available")

// ErrForeign means that an overlay cannot change some files, because they belong to
// another user or group.
var ErrForeign = errors.New("it cannot change files of other users and groups")

// ErrRefused means that a directory cannot be a workspace or be written to.
var ErrRefused = errors.New("refused")

// None is the Backend of a machine without a sandbox.
type None struct{ Why string }

var _ Backend = None{}

// Name returns none.
func (None) Name() string { return "none" }

// Wrap returns ErrNoSandbox: callers decide whether to run a command without a sandbox.
func (n None) Wrap([]string, Profile) (Wrapped, error) {
	return Wrapped{}, fmt.Errorf("%w: %s", ErrNoSandbox, n.Why)
}
