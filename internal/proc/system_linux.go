package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// bootID tells this boot and process namespace from all others.
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

// startTime returns when a process started, in clock ticks since boot. A
// zombie has ended: it waits only to be counted.
func startTime(pid int) (start string, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The second field is the command's name in parentheses and may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}

// marked returns the processes that carry one of the marks, a variable with its value.
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
			continue // it has ended, or is another user's and so not ours
		}
		if slices.ContainsFunc(marks, func(mark string) bool { return carries(env, mark) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// carries reports whether the environment has the very variable and value.
func carries(env []byte, mark string) bool {
	if !bytes.Contains(env, []byte(mark)) {
		return false // nearly always, and quickly
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == mark {
			return true
		}
	}
	return false
}
