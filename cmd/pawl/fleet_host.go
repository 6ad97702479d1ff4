//go:build fleet

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/weak"
)

// freeBytes is what is free for the files of a folder.
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

// localSources lets workspaces begin as repositories on the hosts themselves: for
// mirrors that are mounted on each of them.
const localSources = "PAWL_FLEET_LOCAL_SOURCES"

// sourceOf reads what a workspace begins as: an https address of a repository, and
// behind a # a branch, a tag or the id of a commit. Who asks is not the one whose
// keys and files the hosts have, so that there are no others.
func sourceOf(source string) (git.Remote, error) {
	address, ref, _ := strings.Cut(source, "#")
	from := git.Remote{Address: address, Ref: ref}
	if ref != "" {
		if err := git.CheckRef(ref); err != nil {
			return from, err
		}
	}
	if strings.HasPrefix(address, "file:///") && (os.Getenv(localSources) != "" || weak.On("fleet.source")) {
		from.Local = true
		return from, nil
	}
	u, err := git.CheckURL(address)
	if err == nil && u.Scheme != "https" && !weak.On("fleet.source") {
		err = fmt.Errorf("a workspace begins as a repository at an https address, not at %.100q: %w", address, pawl.ErrInvalid)
	}
	return from, err
}
