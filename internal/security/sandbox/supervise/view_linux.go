package supervise

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// View is the value of Var for a helper that mounts copy-on-write views, Isolate for one
// that mounts a view over the directory itself.
const (
	View    = "view"
	Isolate = "isolate"
)

// The options of overlays. userxattr lets a user mount them in a user namespace; volatile
// omits syncs, since what counts is synced when it is applied. A view that is mounted
// again after a crash cannot be volatile.
const (
	lastingOptions = "userxattr,index=off,xino=off"
	viewOptions    = lastingOptions + ",volatile"
)

const (
	prCapAmbient         = 47
	prCapAmbientClearAll = 4
)

// Parent identifies this process for a helper that it starts: its mount namespace, user
// and group.
func Parent() (string, error) {
	namespace, err := os.Readlink("/proc/self/ns/mnt")
	return namespace + " " + strconv.Itoa(os.Geteuid()) + " " + strconv.Itoa(os.Getegid()), err
}

// viewDirs is the number of directories of a view: the one that it shows, mask, upper,
// work and merged.
const viewDirs = 5

// mountViews mounts overlays in a mount namespace of its own and executes bwrap. Its
// arguments are the mount namespace of its parent, the number of views, the directories
// of each, and the command line of bwrap. It returns only if it fails.
func mountViews(args []string) int {
	if len(args) < 2 {
		return Fail(ExitCannot, errors.New("no command"))
	}
	if err := enter(args[0]); err != nil {
		return Fail(ExitCannot, err)
	}
	n, err := strconv.Atoi(args[1])
	if args = args[2:]; err != nil || n < 1 || len(args) <= n*viewDirs {
		return Fail(ExitCannot, errors.New("no command"))
	}
	for ; n > 0; n-- {
		if err := mountView([viewDirs]string(args), viewOptions); err != nil {
			return Fail(ExitCannot, err)
		}
		args = args[viewDirs:]
	}
	return execute(args)
}

// isolate mounts a view over a directory and executes a command there. Its arguments are
// the mount namespace of its parent, the directories of the view, the directory to start
// in, and the command line. It returns only if it fails.
func isolate(args []string) int {
	if len(args) < viewDirs+3 {
		return Fail(ExitCannot, errors.New("no command"))
	}
	if err := enter(args[0]); err != nil {
		return Fail(ExitCannot, err)
	}
	if err := mountView([viewDirs]string(args[1:]), lastingOptions); err != nil {
		return Fail(ExitCannot, err)
	}
	args = args[1+viewDirs:]
	if err := syscall.Chdir(args[0]); err != nil { // the working directory is still the one below the view
		return Fail(ExitCannot, errors.New(args[0]+": "+err.Error()))
	}
	const prSetPdeathsig = 1 // executing with other privileges has reset it
	if err := check(syscall.Syscall6(syscall.SYS_PRCTL, prSetPdeathsig, uintptr(syscall.SIGKILL), 0, 0, 0, 0)); err != nil {
		return Fail(ExitCannot, err)
	}
	return execute(args[1:])
}

// enter makes the mounts of this process its own. It returns an error in the mount
// namespace of the parent.
func enter(parent string) error {
	var of []string // namespace, user, group
	for part := range split(parent, ' ') {
		of = append(of, part)
	}
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil || len(of) != 3 || own == of[0] {
		return errors.New("the view would be mounted for all processes")
	}
	if err := mapIDs(of[1], of[2]); err != nil {
		return errors.New("map the user: " + err.Error())
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return errors.New("make mounts private: " + err.Error())
	}
	return nil
}

// mapIDs maps a user and a group to themselves in a new user namespace. The parent cannot
// do it: the kernel lets nobody but root write this file of a process whose memory others
// cannot read, which holds for a child of Pawl until it executes a program.
func mapIDs(uid, gid string) error {
	if known, err := os.ReadFile("/proc/self/uid_map"); err != nil || len(known) > 0 {
		return err
	}
	for _, file := range [][2]string{{"setgroups", "deny"}, {"gid_map", gid + " " + gid + " 1"}, {"uid_map", uid + " " + uid + " 1"}} {
		if err := os.WriteFile("/proc/self/"+file[0], []byte(file[1]), 0); err != nil {
			return err
		}
	}
	return nil
}

// execute drops the capabilities of the helper and executes a command line.
func execute(args []string) int {
	if err := check(syscall.Syscall6(syscall.SYS_PRCTL, prCapAmbient, prCapAmbientClearAll, 0, 0, 0, 0)); err != nil {
		return Fail(ExitCannot, errors.New("drop capabilities: "+err.Error()))
	}
	err := syscall.Exec(args[0], args, os.Environ()) //nolint:gosec // it is bwrap or Pawl
	return Fail(ExitCannot, errors.New(args[0]+": "+err.Error()))
}

// mountView mounts the overlay of one view.
func mountView(dirs [viewDirs]string, options string) error {
	var at [viewDirs]string // short, and without characters that overlay treats as separators
	for i, path := range dirs {
		fd, err := openat2(atWorkingDir, path, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, resolveNoSymlinks|resolveNoMagiclinks)
		if err != nil {
			return errors.New("open " + path + ": " + err.Error())
		}
		at[i] = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	options += ",lowerdir=" + at[1] + ":" + at[0] + ",upperdir=" + at[2] + ",workdir=" + at[3]
	if err := syscall.Mount("overlay", at[4], "overlay", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		return errors.New("mount the view: " + err.Error())
	}
	return nil
}
