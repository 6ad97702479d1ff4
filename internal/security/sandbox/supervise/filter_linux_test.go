package supervise

import (
	"encoding/binary"
	"runtime"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter: renames are asked for, and nothing else; the calls of other architectures
// have other numbers.
func TestFilter(t *testing.T) {
	t.Parallel()
	const auditI386, x32 = 0x40000003, 0x40000000
	for arch, n := range numbersOf {
		var raw []bpf.RawInstruction
		for _, ins := range filter(n) {
			raw = append(raw, bpf.RawInstruction{Op: ins.Code, Jt: ins.Jt, Jf: ins.Jf, K: ins.K})
		}
		program, ok := bpf.Disassemble(raw)
		if !ok {
			t.Fatal("the filter has unknown instructions")
		}
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatal(err)
		}
		decide := func(audit, number uint32, want uint32) {
			t.Helper()
			// The machine of package bpf reads the most significant byte first.
			data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, number), audit)
			if got, err := vm.Run(append(data, make([]byte, 56)...)); err != nil || uint32(got) != want {
				t.Errorf("%s: call %#x of %#x: %#x, want %#x", arch, number, audit, got, want)
			}
		}
		asked := map[uintptr]bool{n.rename: n.rename != 0, n.renameat: true, n.renameat2: true}
		for number := range uintptr(500) {
			want := uint32(retAllow)
			if asked[number] {
				want = retAsk
			}
			decide(n.audit, uint32(number), want)
		}
		decide(auditI386, 38, retKill)
		decide(n.audit, x32|82, retKill)
	}
}

// TestNumbers compares the numbers of this architecture with those of x/sys/unix.
func TestNumbers(t *testing.T) {
	t.Parallel()
	want := numbers{
		audit:  map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH],
		rename: numbersOf[runtime.GOARCH].rename, renameat: unix.SYS_RENAMEAT, renameat2: unix.SYS_RENAMEAT2, seccomp: unix.SYS_SECCOMP, statx: unix.SYS_STATX,
	}
	if calls != want || numberOpenat2 != unix.SYS_OPENAT2 {
		t.Errorf("%+v, want %+v", calls, want)
	}
	for _, pair := range [][2]uintptr{
		{ioctlReceive, unix.SECCOMP_IOCTL_NOTIF_RECV}, {ioctlSend, unix.SECCOMP_IOCTL_NOTIF_SEND}, {ioctlValid, unix.SECCOMP_IOCTL_NOTIF_ID_VALID},
		{ioctlSetFlags, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS}, {retAsk, unix.SECCOMP_RET_USER_NOTIF}, {waitKillableRecv, unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV},
		{openPath, unix.O_PATH}, {statxMount, unix.STATX_MNT_ID}, {prSetChildSubreaper, unix.PR_SET_CHILD_SUBREAPER}, {resolveNoMagiclinks, unix.RESOLVE_NO_MAGICLINKS},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%#x, want %#x", pair[0], pair[1])
		}
	}
}
