package collect

import "testing"

// A server on the loopback interface has another address for clients on other nodes.
func TestReachedFrom(t *testing.T) {
	for _, c := range [][3]string{
		{"http://127.0.0.1:8000", "n1", "http://n1:8000"},
		{"http://localhost:8000/x", "10.0.0.7", "http://10.0.0.7:8000/x"},
		{"http://[::1]:8000", "fd00::1", "http://[fd00::1]:8000"},
		{"http://localhost", "n1", "http://n1"},
		{"http://gpu7:8000", "n1", "http://gpu7:8000"},
		{"https://10.1.2.3:8000", "n1", "https://10.1.2.3:8000"},
		{"http://127.0.0.1:8000", "", "http://127.0.0.1:8000"},
	} {
		if got := reachedFrom(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
