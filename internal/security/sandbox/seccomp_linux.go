package sandbox

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The offsets in the data of a seccomp filter: the number, the architecture, six
// arguments of 64 bits. Both supported architectures are little-endian.
const (
	seeNumber = 0
	seeArch   = 4
	seeArgs   = 16
)

const (
	x32Bit     = 0x40000000 // set in the numbers of the x32 calls, a second table on amd64
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7

	retKill  = 0x80000000
	retErrno = 0x00050000
	retAllow = 0x7fff0000

	// The namespace flags of clone. Its lowest byte is a signal, where unshare has one
	// more flag.
	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
)

// surroundings tells whether a command shares namespaces with the rest of the machine.
type surroundings int

const (
	apart  surroundings = iota // it has namespaces of its own: what is in them is its own
	amidst                     // it has none: no sockets, no shared memory, no limits for others
)

// filter returns the filter for an architecture of Go, or an error if it is not
// supported. It kills processes that use the calls of another architecture, which have
// other numbers, fails the refused calls with EPERM, and allows the rest.
func filter(arch string, where surroundings) ([]bpf.Instruction, error) {
	number := func(c call) int { return c.amd64 }
	audit := uint32(auditAMD64)
	switch arch {
	case "amd64":
	case "arm64":
		number, audit = func(c call) int { return c.arm64 }, auditARM64
	default:
		return nil, fmt.Errorf("no seccomp filter for %s", arch)
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: seeArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: audit, SkipTrue: 1},
		bpf.RetConstant{Val: retKill},
		bpf.LoadAbsolute{Off: seeNumber, Size: 4},
	}
	if arch == "amd64" {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Bit, SkipTrue: 1}, bpf.RetConstant{Val: retKill})
	}
	var answers []answer
	on := func(c call, block ...bpf.Instruction) {
		if n := number(c); n >= 0 {
			answers = append(answers, answer{uint32(n), block})
		}
	}
	for _, c := range refusedCalls {
		on(c, refuse(unix.EPERM))
	}
	// clone3 has its flags in memory, which a filter cannot read. Without it, libraries
	// use clone.
	on(callClone3, refuse(unix.ENOSYS))
	on(callClone, argument(0), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: newNamespaces, SkipFalse: 1}, refuse(unix.EPERM), allow)
	on(callUnshare, argument(0), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: newNamespaces | unix.CLONE_NEWTIME, SkipFalse: 1}, refuse(unix.EPERM), allow)
	// The kernel uses 32 bits of an ioctl's number: comparing more could be bypassed.
	on(callIoctl, argument(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.TIOCLINUX, SkipTrue: 1},
		refuse(unix.EPERM), allow)
	on(callSocketpair, argument(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 1}, refuse(unix.EPERM), allow)
	on(callSocket, socketBlock(where)...)
	if where == amidst {
		for _, c := range sharedCalls {
			on(c, refuse(unix.EPERM))
		}
		on(callPrlimit, argument(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse(unix.EPERM), allow)
	}
	slices.SortFunc(answers, func(a, b answer) int { return cmp.Compare(a.number, b.number) })
	return append(program, search(answers)...), nil
}

// answer has the instructions of a filter for one call.
type answer struct {
	number uint32
	block  []bpf.Instruction
}

// search returns a binary search for the answer to a call; calls without one are allowed.
// The kernel runs a new filter for every call number, so that a linear search would slow
// down the start of each command.
func search(answers []answer) []bpf.Instruction {
	if len(answers) == 1 {
		a := answers[0]
		check := bpf.JumpIf{Cond: bpf.JumpEqual, Val: a.number, SkipFalse: uint8(len(a.block))}
		return append(append([]bpf.Instruction{check}, a.block...), allow)
	}
	half := len(answers) / 2
	below, rest := search(answers[:half]), search(answers[half:])
	split := bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: answers[half].number, SkipTrue: uint8(len(below))}
	return append(append([]bpf.Instruction{split}, below...), rest...)
}

var allow = bpf.RetConstant{Val: retAllow}

func refuse(code unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: retErrno | uint32(code)} }

// argument loads the low 32 bits of an argument.
func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: seeArgs + 8*n, Size: 4} }

// socketBlock allows or denies a socket by its family. Programs need NETLINK_ROUTE to
// list network interfaces.
func socketBlock(where surroundings) []bpf.Instruction {
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
	if where == amidst {
		families = nil
	}
	block := []bpf.Instruction{argument(0)}
	for i, family := range families {
		block = append(block, bpf.JumpIf{Cond: bpf.JumpEqual, Val: family, SkipTrue: uint8(len(families) - i + 3)})
	}
	return append(block,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 2},
		argument(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
		refuse(unix.EPERM),
		allow)
}

// assemble returns the filter for this machine in the kernel's form.
func assemble(where surroundings) ([]bpf.RawInstruction, error) {
	program, err := filter(runtime.GOARCH, where)
	if err != nil {
		return nil, err
	}
	return bpf.Assemble(program)
}

// localFilter returns the filter for a sandbox with its own namespaces, as bytes.
var localFilter = sync.OnceValues(func() ([]byte, error) {
	program, err := assemble(apart)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, ins := range program {
		data = binary.NativeEndian.AppendUint16(data, ins.Op)
		data = append(data, ins.Jt, ins.Jf)
		data = binary.NativeEndian.AppendUint32(data, ins.K)
	}
	return data, nil
})
