package proc

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Identity identifies one pawl process, so that other processes on the same machine
// can tell whether it is still alive.
type Identity struct {
	Host    string
	PID     int
	Start   string // start time of the process, to detect a reused process id
	Machine string // hash of the host, its boot and its process namespace; "" if unknown
	Mark    string // the mark in the environment of its child processes
}

// Self returns the identity of this process.
var Self = sync.OnceValue(func() Identity {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	start, _ := startTime(os.Getpid())
	return Identity{
		Host:    strings.ReplaceAll(host, ":", "_"),
		PID:     os.Getpid(),
		Start:   start,
		Machine: machineKey(host),
		Mark:    rand.Text(),
	}
})

// String returns the identity as it is stored in a lease.
func (i Identity) String() string {
	return fmt.Sprintf("%s:%d:%s:%s:%s", i.Host, i.PID, i.Start, i.Machine, i.Mark)
}

// Parse parses the result of String.
func Parse(s string) (Identity, error) {
	f := strings.Split(s, ":")
	if len(f) != 5 {
		return Identity{}, fmt.Errorf("parse owner %q: want host:pid:start:machine:mark", s)
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return Identity{}, fmt.Errorf("parse owner %q: %w", s, err)
	}
	return Identity{Host: f[0], PID: pid, Start: f[2], Machine: f[3], Mark: f[4]}, nil
}

// Here reports whether the process is or was on this machine, since its last boot
// and in the same process namespace.
func (i Identity) Here() bool { return i.Machine != "" && i.Machine == Self().Machine }

// Ended reports whether the process has certainly ended. It is false for processes
// on other machines, whose state is unknown here.
func (i Identity) Ended() bool {
	if !i.Here() {
		return false
	}
	start, alive := startTime(i.PID)
	return !alive || start != i.Start
}

// Boot returns an id of the current boot of the machine, or "" if it is unknown.
func Boot() string {
	boot, _ := bootID()
	return boot
}

// machineKey returns a hash of the host, its boot and its process namespace. It
// returns "" if these are unknown; leases then only expire by time.
func machineKey(host string) string {
	boot, namespace := bootID()
	if boot == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(host + "\n" + boot + "\n" + namespace))
	return hex.EncodeToString(sum[:8])
}
