package permission

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/protect"
)

// gates returns, for each segment, why a person must approve it regardless of mode
// and rules, or "": it deletes the root, the home directory, the workspace or
// anything outside of it, writes to a device, or stops the machine. This prevents
// accidents only: a malicious command can be spelled so that it is not detected.
func (j *decider) gates(s script, r *runs) []string {
	why := make([]string, len(s.segments))
	for i, seg := range s.segments {
		for _, target := range seg.Writes {
			if why[i] == "" && isDevice(target) {
				why[i] = "writes to the device " + target
			}
		}
	}
	for i := range s.segments {
		for _, run := range r.of[i] {
			if why[i] == "" {
				why[i] = j.gate(run)
			}
		}
	}
	return why
}

var (
	deleters   = set("rm rmdir unlink shred srm trash trash-put rimraf")
	diskTools  = set("wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard hdparm mkswap cryptsetup diskutil")
	stoppers   = set("shutdown reboot halt poweroff telinit")
	fileMovers = set("cp mv install truncate ln")
)

// deletes reports whether a command runs a program that deletes files.
func (r run) deletes() bool {
	return len(r.words) > 0 && r.words[0].known && deleters[r.program()]
}

// program returns the name of the program that a command runs.
func (r run) program() string { return strings.TrimSuffix(program(r.words[0].text), ".exe") }

// gate returns why a person must approve a command in every mode, or "".
func (j *decider) gate(r run) string {
	if len(r.words) == 0 {
		return ""
	}
	args := r.words[1:]
	if !r.words[0].known {
		if isRecursive(args) {
			return except(j.gateTargets(r, args, true), aboutWorkspace, !isForced(args))
		}
		return ""
	}
	name := r.program()
	switch {
	case deleters[name]:
		return j.gateTargets(r, args, false)
	case name == "find" || name == "fd" || name == "fdfind":
		return j.gateFind(r, args)
	case name == "chmod" || name == "chown" || name == "chgrp":
		if isRecursive(args) {
			return except(j.gateTargets(r, args, true), aboutWorkspace, true)
		}
	case name == "mv" && len(args) > 0: // away from where it is
		if why := j.gateTargets(r, args[:len(args)-1], true); why != "" {
			return why
		}
	case name == "rsync" && slices.ContainsFunc(args, func(w word) bool { return strings.HasPrefix(w.text, "--del") }):
		return j.gateTargets(r, args[len(args)-1:], true)
	case diskTools[name] || strings.HasPrefix(name, "mkfs"):
		return "modifies a disk"
	case stoppers[name]:
		return "shuts down or restarts the machine"
	case name == "kill" && len(args) > 1 && args[len(args)-1].text == "-1":
		return "kills every process"
	}
	return gateDevice(name, args)
}

// gateDevice detects commands that write to a device.
func gateDevice(name string, args []word) string {
	switch {
	case name == "dd":
	case fileMovers[name] && len(args) > 0:
		args = args[len(args)-1:]
	case name != "tee":
		return ""
	}
	for _, w := range args {
		target, ok := strings.CutPrefix(w.text, "of=")
		if (ok || name != "dd") && isDevice(target) {
			return "writes to the device " + target
		}
	}
	return ""
}

// except returns why, or "" if it equals reason and that is harmless here.
func except(why, reason string, harmless bool) string {
	if harmless && why == reason {
		return ""
	}
	return why
}

// isForced reports whether one argument has both -r and -f.
func isForced(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return isOption(w) && strings.ContainsAny(w.text, "rR") && strings.Contains(w.text, "f")
	})
}

// isRecursive reports whether -r, -R or --recursive is among the arguments.
func isRecursive(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		if long, ok := strings.CutPrefix(w.text, "--"); ok {
			return long != "" && strings.HasPrefix("recursive", long)
		}
		return isOption(w) && strings.ContainsAny(w.text, "rR")
	})
}

// optionR matches text that may expand to an option -r: $(echo -rf /).
var optionR = regexp.MustCompile(`-[A-Za-z]*[rR]`)

// gateTargets checks the operands of a command that removes or changes them. With
// rootsOnly, only the root, the home directory and the workspace matter, not every
// path outside of the workspace.
func (j *decider) gateTargets(r run, args []word, rootsOnly bool) string {
	recursive := isRecursive(args) || slices.ContainsFunc(args, func(w word) bool { return !w.known && optionR.MatchString(w.raw) })
	operandsOnly := false
	for _, w := range args {
		switch {
		case w.known && w.text == "--" && !operandsOnly:
			operandsOnly = true
			continue
		case isOption(w) && !operandsOnly:
			continue
		}
		for _, dir := range r.dirs {
			if why := j.gateTarget(dir, w, recursive, rootsOnly); why != "" {
				return why
			}
		}
	}
	return ""
}

// aboutWorkspace is a reason that some callers ignore; see except.
const aboutWorkspace = "affects the whole workspace"

func (j *decider) gateTarget(dir string, w word, recursive, rootsOnly bool) string {
	target, known := w.text, w.known || w.glob
	if !known {
		target, known = wellKnown(w.raw)
	}
	if known {
		return j.gatePlace(dir, wholeFolder(target), rootsOnly)
	}
	if rootsOnly || !recursive {
		return ""
	}
	if i := strings.LastIndexByte(w.text, '/'); i >= 0 && !strings.Contains(w.raw, "..") && j.gatePlace(dir, w.text[:i+1], false) == "" {
		return "" // something in a directory that may be deleted
	}
	return "deletes an unknown target: " + w.raw
}

// wellKnown expands $HOME, $PWD and the like.
func wellKnown(raw string) (string, bool) {
	raw = strings.NewReplacer(`"`, "", `'`, "").Replace(raw)
	for _, v := range [][2]string{{"$HOME", "~"}, {"${HOME}", "~"}, {"$PWD", "."}, {"${PWD}", "."}, {"$(pwd)", "."}, {"`pwd`", "."}} {
		if rest, ok := strings.CutPrefix(raw, v[0]); ok && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`") {
			return v[1] + rest, true
		}
	}
	return "", false
}

// wholeFolder turns a pattern that matches everything in a directory into the
// directory itself.
func wholeFolder(target string) string {
	target = path.Clean(target)
	for base := path.Base(target); strings.Trim(base, "*.?[!]") == "" && strings.Contains(base, "*"); base = path.Base(target) {
		target = path.Dir(target)
	}
	return target
}

// gatePlace returns why a person must approve deleting a path, which is relative
// to dir, or "".
func (j *decider) gatePlace(dir, target string, rootsOnly bool) string {
	full := joinDir(dir, target)
	switch {
	case full == "?" && strings.Trim(target, "./") == "":
		return "affects an unknown directory"
	case full == "?":
		return ""
	case full == "":
		full = "."
	}
	at, err := j.place(full)
	if err != nil {
		return err.Error()
	}
	switch why := j.gatePath(at); {
	case why != "":
		return why
	case at.inside() != "":
		return ""
	case path.Dir(at.abs) == "/" && at.abs != "/tmp":
		return "affects " + at.abs
	case !rootsOnly && !isTemporary(at.abs):
		return "deletes files outside the workspace"
	}
	return ""
}

// gatePath returns why a person must approve changing a whole directory or a
// device, or "".
func (j *decider) gatePath(at place) string {
	switch {
	case at.abs == "/":
		return "affects the root directory"
	case at.home == "~":
		return "affects the home directory"
	case at.inside() == ".":
		return aboutWorkspace
	case protect.Fold(at.inside()) == ".git":
		return "affects the git history of the workspace"
	case isDevice(at.abs):
		return "affects the device " + at.abs
	}
	for _, root := range append([]string{j.Dir, j.Home}, j.Dirs...) {
		if _, ok := below(at.abs, path.Clean(root)); ok {
			return "affects a directory above " + root
		}
	}
	return ""
}

// gateFind checks the -delete and -exec actions of find.
func (j *decider) gateFind(r run, args []word) string {
	var starts []word
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, args[0].text) {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
		starts, args = append(starts, args[0]), args[1:]
	}
	deletes, narrow := false, false
	for i, w := range args {
		switch {
		case w.text == "-delete":
			deletes = true
		case strings.HasPrefix(w.text, "-exec") || strings.HasPrefix(w.text, "-ok") || strings.HasPrefix(w.text, "--exec") || w.text == "-x" || w.text == "-X":
			deletes = deletes || i+1 < len(args) && (!args[i+1].known || deleters[program(args[i+1].text)] || carriers[program(args[i+1].text)])
		case slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-empty", "-newer", "-mtime", "-mmin", "-size", "-user", "-inum"}, w.text):
			narrow = true
		}
	}
	if !deletes {
		return ""
	}
	if len(starts) == 0 {
		starts = []word{{raw: ".", text: ".", known: true}}
	}
	for _, w := range starts {
		for _, dir := range r.dirs {
			if why := except(j.gateTarget(dir, w, true, false), aboutWorkspace, narrow); why != "" {
				return why
			}
		}
	}
	return ""
}

// isTemporary reports whether a path is below a directory for temporary files.
func isTemporary(p string) bool {
	for _, dir := range []string{"/tmp", "/var/tmp", "/private/tmp"} {
		if rest, ok := below(dir, p); ok && rest != "." {
			return true
		}
	}
	return false
}

// isDevice reports whether a path is a device on which writing can destroy data.
func isDevice(p string) bool {
	rest, ok := below("/dev", path.Clean(p))
	if !ok || rest == "." {
		return false
	}
	first, _, _ := strings.Cut(rest, "/")
	return !slices.Contains([]string{"null", "zero", "full", "stdout", "stderr", "stdin", "tty", "fd", "shm", "pts", "ptmx", "random", "urandom", "tcp", "udp"}, first)
}
