package tree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Discard removes a finished transaction with all that it kept. Files in the root that are links to a removed file
// change their change time by that: they are returned, to be added to the Own of the next transaction.
func Discard(dir string) ([]Identity, error) {
	m, err := readManifest(dir)
	if err != nil && !errors.Is(err, ErrNotStarted) {
		return nil, err
	}
	if err == nil && !m.Done {
		return nil, fmt.Errorf("discard %s: the transaction is not finished", dir)
	}
	var own []Identity
	for _, name := range []string{"trash", "conflicts"} {
		kept, err := openDirectory(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		own, err = discardEntries(kept, own)
		kept.close()
		if err != nil {
			return nil, err
		}
	}
	return own, os.RemoveAll(dir)
}

func discardEntries(d directory, own []Identity) ([]Identity, error) {
	names, err := d.names("")
	if err != nil {
		return own, err
	}
	for _, base := range names {
		fd, err := d.open(base, unix.O_PATH)
		if err != nil {
			return own, err
		}
		err = removeSlot(d, base)
		var st unix.Stat_t
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		_ = unix.Close(fd)
		if err != nil {
			return own, err
		}
		if st.Nlink > 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			own = append(own, identity(toStat(&st)))
		}
	}
	return own, nil
}
