//go:build fleet

package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
)

// freeBytes is what is free for the files of a directory.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("how much of the disk is free below %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // its type is another on each system
}

// sizes are the units of sizes, the longest first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"", 1}}

// parseSize reads a number of bytes, such as 512MiB.
func parseSize(text string) (int64, error) {
	for _, s := range sizes {
		if number, ok := strings.CutSuffix(text, s.unit); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < 0 {
				break
			}
			return n * s.bytes, nil
		}
	}
	return 0, fmt.Errorf("%.40q is no size: write 512MiB or 2GiB: %w", text, pawl.ErrInvalid)
}
