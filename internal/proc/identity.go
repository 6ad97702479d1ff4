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

// Identity names one run of pawl in such a way that others on the same machine
// can tell whether it still lives: host, process id, start time, machine key, mark.
type Identity struct {
	Host    string
	PID     int
	Start   string // the process's start time, so that a reused id is not mistaken for it
	Machine string // this boot, this process namespace
	Mark    string // what its children carry
}

// Self returns this process's identity.
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

// String is the identity's form in a lease.
func (i Identity) String() string {
	return fmt.Sprintf("%s:%d:%s:%s:%s", i.Host, i.PID, i.Start, i.Machine, i.Mark)
}

// Parse reads what String wrote.
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

// Here reports whether the process runs, or ran, on this boot of this machine.
func (i Identity) Here() bool { return i.Machine != "" && i.Machine == Self().Machine }

// Gone reports whether the process has certainly ended. It is false for
// processes of other machines: nobody here can know.
func (i Identity) Gone() bool {
	if !i.Here() {
		return false
	}
	start, alive := startTime(i.PID)
	return !alive || start != i.Start
}

// Boot tells this start of the machine from others; "" where that is not known.
func Boot() string {
	boot, _ := bootID()
	return boot
}

// machineKey is "" where it cannot be determined one boot or process namespace from
// another; leases then lapse by time alone.
func machineKey(host string) string {
	boot, namespace := bootID()
	if boot == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(host + "\n" + boot + "\n" + namespace))
	return hex.EncodeToString(sum[:8])
}
