package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// bootID returns ids of this boot and of this process namespace, or "" if they are unknown.
func bootID() (boot, namespace string) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", ""
	}
	namespace, err = os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", ""
	}
	return strings.TrimSpace(string(id)), namespace
}

// startTime returns the start time of a process in clock ticks since boot. alive is
// false if it has ended, also for a zombie.
func startTime(pid int) (start string, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The second field is the command's name in parentheses and may contain anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}

// marked returns the ids of the processes with one of the marks, in the form NAME=value.
func marked(marks ...string) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		env, err := os.ReadFile("/proc/" + name + "/environ")
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		if slices.ContainsFunc(marks, func(mark string) bool { return carries(env, mark) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// carries reports whether the environment contains exactly this variable and value.
func carries(env []byte, mark string) bool {
	if !bytes.Contains(env, []byte(mark)) {
		return false // the common case, and fast
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == mark {
			return true
		}
	}
	return false
}
