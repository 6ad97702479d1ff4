package sandbox

// call is a system call with its number on each architecture; -1 means none.
type call struct {
	name         string
	amd64, arm64 int
}

// refusedCalls are system calls that builds and tests do not need, and that access
// other processes, mounts, keys, kernel settings, or large parts of the kernel that
// are rarely needed and often vulnerable.
var refusedCalls = []call{
	// other processes
	{"ptrace", 101, 117}, {"process_vm_readv", 310, 270}, {"process_vm_writev", 311, 271}, {"kcmp", 312, 272},
	{"pidfd_getfd", 438, 438}, {"process_madvise", 440, 440}, {"perf_event_open", 298, 241},
	// ways around the filter, and around checks of paths
	{"io_uring_setup", 425, 425}, {"io_uring_enter", 426, 426}, {"io_uring_register", 427, 427},
	{"open_by_handle_at", 304, 265}, {"userfaultfd", 323, 282}, {"bpf", 321, 280}, {"modify_ldt", 154, -1},
	// keys
	{"add_key", 248, 217}, {"request_key", 249, 218}, {"keyctl", 250, 219},
	// mounts and namespaces
	{"mount", 165, 40}, {"umount2", 166, 39}, {"pivot_root", 155, 41}, {"chroot", 161, 51}, {"setns", 308, 268},
	{"open_tree", 428, 428}, {"move_mount", 429, 429}, {"fsopen", 430, 430}, {"fsconfig", 431, 431}, {"fsmount", 432, 432},
	{"fspick", 433, 433}, {"mount_setattr", 442, 442}, {"open_tree_attr", 467, 467},
	// the machine
	{"init_module", 175, 105}, {"finit_module", 313, 273}, {"delete_module", 176, 106}, {"kexec_load", 246, 104}, {"kexec_file_load", 320, 294},
	{"reboot", 169, 142}, {"swapon", 167, 224}, {"swapoff", 168, 225}, {"acct", 163, 89}, {"quotactl", 179, 60}, {"quotactl_fd", 443, 443},
	{"syslog", 103, 116}, {"vhangup", 153, 58}, {"iopl", 172, -1}, {"ioperm", 173, -1}, {"settimeofday", 164, 170},
	{"clock_settime", 227, 112}, {"clock_adjtime", 305, 266}, {"sethostname", 170, 161}, {"setdomainname", 171, 162},
	{"nfsservctl", 180, 42}, {"lookup_dcookie", 212, 18},
}

// sharedCalls access memory and queues that all processes of a namespace share.
var sharedCalls = []call{
	{"shmget", 29, 194}, {"shmat", 30, 196}, {"shmctl", 31, 195},
	{"semget", 64, 190}, {"semop", 65, 193}, {"semctl", 66, 191}, {"semtimedop", 220, 192},
	{"msgget", 68, 186}, {"msgsnd", 69, 189}, {"msgrcv", 70, 188}, {"msgctl", 71, 187}, {"mq_open", 240, 180},
}

// The calls that are refused with some arguments only.
var (
	callClone      = call{"clone", 56, 220}
	callClone3     = call{"clone3", 435, 435}
	callUnshare    = call{"unshare", 272, 97}
	callIoctl      = call{"ioctl", 16, 29}
	callSocket     = call{"socket", 41, 198}
	callSocketpair = call{"socketpair", 53, 199}
	callPrlimit    = call{"prlimit64", 302, 261}
)
