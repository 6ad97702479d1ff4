package supervise

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// View is the value of Var for a helper that mounts a copy-on-write view.
const View = "view"

// viewOptions are the options of the overlay. userxattr lets a user mount it in a user
// namespace; volatile omits syncs, since what counts is synced when it is applied.
const viewOptions = "userxattr,volatile,index=off,xino=off"

const (
	prCapAmbient         = 47
	prCapAmbientClearAll = 4
)

// MountNamespace identifies the mount namespace of this process.
func MountNamespace() (string, error) { return os.Readlink("/proc/self/ns/mnt") }

// mountView mounts an overlay in a mount namespace of its own and executes bwrap. Its
// arguments are the mount namespace of its parent, the workspace, the directories of the
// view (mask, upper, work, merged), and the command line of bwrap. It returns only if it
// fails.
func mountView(args []string) int {
	const dirs = 5
	if len(args) <= dirs+1 {
		return Fail(ExitCannot, errors.New("no command"))
	}
	if own, err := MountNamespace(); err != nil || own == args[0] {
		return Fail(ExitCannot, errors.New("the view would be mounted for all processes"))
	}
	args = args[1:]
	var at [dirs]string // short, and without characters that overlay treats as separators
	for i, path := range args[:dirs] {
		fd, err := openat2(atWorkingDir, path, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, resolveNoSymlinks|resolveNoMagiclinks)
		if err != nil {
			return Fail(ExitCannot, errors.New("open "+path+": "+err.Error()))
		}
		at[i] = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return Fail(ExitCannot, errors.New("make mounts private: "+err.Error()))
	}
	options := viewOptions + ",lowerdir=" + at[1] + ":" + at[0] + ",upperdir=" + at[2] + ",workdir=" + at[3]
	if err := syscall.Mount("overlay", at[4], "overlay", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		return Fail(ExitCannot, errors.New("mount the view: "+err.Error()))
	}
	if err := check(syscall.Syscall6(syscall.SYS_PRCTL, prCapAmbient, prCapAmbientClearAll, 0, 0, 0, 0)); err != nil {
		return Fail(ExitCannot, errors.New("drop capabilities: "+err.Error()))
	}
	bwrap := args[dirs:]
	err := syscall.Exec(bwrap[0], bwrap, os.Environ()) //nolint:gosec // it is bwrap
	return Fail(ExitCannot, errors.New(bwrap[0]+": "+err.Error()))
}
