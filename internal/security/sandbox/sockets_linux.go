package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// listening returns the paths of the unix sockets that this user can connect to.
func listening() ([]string, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	defer f.Close()
	var paths []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// Num RefCount Protocol Flags Type St Inode Path
		fields := strings.SplitN(lines.Text(), " /", 2)
		if len(fields) != 2 {
			continue // without a name, or an abstract one
		}
		path := resolve("/" + fields[1])
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 && unix.Access(path, unix.W_OK) == nil {
			paths = append(paths, path)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	return paths, nil
}
