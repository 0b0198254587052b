package plan

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/kballard/go-shellquote"

	"github.com/ttreport/ttreport/ingest/redact"
)

// ServerKind is a way to get a server.
type ServerKind string

// Kinds of servers.
const (
	ServerSim     ServerKind = "sim"     // the simulator in this program
	ServerURL     ServerKind = "url"     // one that runs already
	ServerCommand ServerKind = "command" // a program that is started
	ServerDocker  ServerKind = "docker"  // an image that is started with docker or podman
)

// ServerName is the value of --server and of a plan's server: field. The zero value names no server.
type ServerName struct {
	Kind ServerKind
	URL  string   // of a server that runs, without a slash or /v1 at its end
	Argv []string // of a program
}

// UnmarshalText implements encoding.TextUnmarshaler: sim, docker, "command …", or the address of a server.
func (s *ServerName) UnmarshalText(text []byte) error {
	// OpenAI clients take addresses with /v1.
	name := strings.TrimSuffix(strings.TrimSuffix(string(text), "/"), "/v1")
	switch name {
	case "":
		*s = ServerName{}
		return nil
	case string(ServerSim), string(ServerDocker):
		*s = ServerName{Kind: ServerKind(name)}
		return nil
	}
	if words, err := shellquote.Split(name); err == nil && len(words) > 1 && words[0] == string(ServerCommand) {
		*s = ServerName{Kind: ServerCommand, Argv: words[1:]}
		return nil
	}
	u, err := url.Parse(name)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is neither sim nor docker, nor the address of a server, nor 'command …'", redact.Text(name))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s had a user, a password or a query: tools have the address on their command lines, which "+
			"everybody on this host can read; state a key in OPENAI_API_KEY", redact.URL(u.Scheme+"://"+u.Host))
	}
	*s = ServerName{Kind: ServerURL, URL: strings.TrimSuffix(name, "/")}
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s ServerName) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns the name as --server takes it.
func (s ServerName) String() string {
	switch s.Kind {
	case ServerURL:
		return s.URL
	case ServerCommand:
		return string(ServerCommand) + " " + shellescape.QuoteCommand(s.Argv)
	}
	return string(s.Kind)
}

// IsZero reports whether no server is named.
func (s ServerName) IsZero() bool { return s.Kind == "" }

// usualPort is the port of servers unless one is given.
const usualPort = 8000

// Address returns where the server answers or will answer: port is that of --port, 0 for none. A command's own --port
// takes precedence over the usual one.
func (s ServerName) Address(port int) string {
	switch s.Kind {
	case ServerURL:
		return s.URL
	case ServerCommand:
		port = cmp.Or(port, commandPort(s.Argv))
	case ServerSim:
		return string(ServerSim)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", cmp.Or(port, usualPort))
}

// commandPort returns the port in a server's command line; 0 when there is none, or when it is not a number, which
// the server will refuse.
func commandPort(argv []string) int {
	port := 0
	for i, a := range argv {
		name, value, found := strings.Cut(a, "=")
		if name != "--port" && name != "-p" {
			continue
		}
		if !found && i+1 < len(argv) {
			value = argv[i+1]
		}
		if n, err := strconv.Atoi(value); err == nil {
			port = n
		}
	}
	return port
}
