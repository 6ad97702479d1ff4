// Command pawl-fakeprovider serves scripted replies over the protocols of real model providers, for tests and
// experiments. docs/reference/fake-provider.md describes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "pawl-fakeprovider: %v\n", err)
		os.Exit(1)
	}
}

// errUsage means that a flag or an argument is wrong. parse has reported it.
var errUsage = errors.New("usage")

const usage = `Serve a script of replies over the protocols of the real providers: Anthropic
Messages, OpenAI Chat Completions and Responses, Gemini. It prints the base
URLs, then a line on standard error for each request, until it is interrupted.

Usage:
  pawl-fakeprovider --script FILE [flags]

Flags:
`

type options struct {
	script, listen, key string
	public              bool
}

// parse parses the flags, and reports errors on stderr.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("pawl-fakeprovider", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.script, "script", "", "the `file` of replies")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "the `address` to listen on; port 0 means any that is free")
	flags.StringVar(&o.key, "key", "", "refuse requests without this API `key`")
	flags.BoolVar(&o.public, "public", false, "allow an address that other machines can reach")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, errUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "pawl-fakeprovider: unexpected argument %q\n", flags.Arg(0))
		return o, errUsage
	case o.script == "":
		fmt.Fprintln(stderr, "pawl-fakeprovider: --script is missing")
		return o, errUsage
	}
	return o, nil
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	m, err := fakeprovider.Open(o.script)
	if err != nil {
		return err
	}
	listener, err := o.open(ctx)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(stdout, "anthropic=%[1]s openai=%[1]s/v1 gemini=%[1]s\n", url)
	srv := &http.Server{
		Handler: fakeprovider.Handler(m, fakeprovider.Config{Key: o.key, Log: func(r fakeprovider.Record) {
			fmt.Fprintln(stderr, logLine(r))
		}}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		<-ctx.Done()
		_ = srv.Close() // the process exits anyway
	}()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// open listens on a loopback address, or with --public on any address: the server accepts every request, and a script
// may be confidential.
func (o options) open(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, err
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !o.public && (!ok || !addr.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("--listen %s: other machines can reach that; add --public if they may", o.listen), listener.Close())
	}
	return listener, nil
}

// logLine describes a request in one line.
func logLine(r fakeprovider.Record) string {
	outcome := "dropped"
	if r.Status != 0 {
		outcome = strconv.Itoa(r.Status)
	}
	line := fmt.Sprintf("%s reply %d: %s", r.Protocol, r.Position+1, outcome)
	if r.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	switch {
	case r.Message != "":
		line += ": " + r.Message
	case r.Fault.Kind != "":
		line += ", fault " + r.Fault.String()
	}
	return line
}
