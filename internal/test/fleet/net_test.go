//go:build fleet

package fleet

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// relay passes connections on to whichever of its targets answers, one after the
// other: what a name of several addresses, or a balancer, is to a fleet. It returns
// where it listens.
func (w *env) relay(listen string, targets func() []string) string {
	w.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = l.Close() })
	go func() {
		for first := 0; ; first++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go pass(c, first, targets())
		}
	}()
	return l.Addr().String()
}

// pass connects c with the first target that answers, beginning at a number.
func pass(c net.Conn, first int, targets []string) {
	defer c.Close()
	for i := range targets {
		to, err := net.DialTimeout("tcp", targets[(first+i)%len(targets)], time.Second)
		if err != nil {
			continue
		}
		go func() {
			defer to.Close()
			defer c.Close()
			_, _ = io.Copy(to, c)
		}()
		_, _ = io.Copy(c, to)
		_ = to.Close()
		return
	}
}

// run runs a command of the system.
func (w *env) run(args ...string) {
	w.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		w.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// diskSize is that of an apart host.
const diskSize = "200m"

// apart starts the executor of a host that has a network and a disk of its own. It is
// the nth such host.
func (w *env) apart(n int, name string, flags ...string) *host {
	w.Helper()
	own := filepath.Join(w.dir, "hosts", name, "work")
	if err := os.MkdirAll(own, 0o700); err != nil {
		w.Fatal(err)
	}
	w.run("mount", "-t", "tmpfs", "-o", "mode=700,size="+diskSize, "pawl", own)
	link, space, net := fmt.Sprintf("pf%s-%d", series, n), fmt.Sprintf("pawl-%s-%d", series, n), fmt.Sprintf("10.%s.%d", series, n)
	_ = exec.Command("ip", "netns", "del", space).Run() // of a test that was killed
	_ = exec.Command("ip", "link", "del", link).Run()
	w.after = append(w.after, func() {
		w.run("umount", "-l", own)
		w.run("ip", "link", "del", link)
		w.run("ip", "netns", "del", space)
	})
	w.run("ip", "netns", "add", space)
	w.run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
	w.run("ip", "addr", "add", net+".1/24", "dev", link)
	w.run("ip", "link", "set", link, "up")
	w.run("ip", "-n", space, "addr", "add", net+".2/24", "dev", "eth0")
	w.run("ip", "-n", space, "link", "set", "eth0", "up")
	w.run("ip", "-n", space, "link", "set", "lo", "up")
	outer := map[string]string{gateway: w.relay(net+".1:0", w.coordinators)}
	for port := range ports {
		outer[port] = w.relay(net+".1:0", func() []string { return []string{w.address(port)} })
	}
	address := func(what string) string { return outer[what] }
	h := w.hostOf(name, address, []string{"ip", "netns", "exec", space}, append([]string{"--role", "executor"}, flags...)...)
	h.link = link
	return h
}

// cut takes the host off the network, and heal brings it back. Connections are not
// closed by it: nothing comes any more.
func (h *host) cut()  { h.w.run("ip", "link", "set", h.link, "down") }
func (h *host) heal() { h.w.run("ip", "link", "set", h.link, "up") }
