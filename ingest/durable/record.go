package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
)

// WriteRecord writes what a later run of the program may believe, with its SHA-256 in the first line. A file that holds
// it already stays untouched.
func WriteRecord(name string, data []byte) error {
	sum := sha256.Sum256(data)
	_, err := WriteChanged(name, append(append(hex.AppendEncode(nil, sum[:]), '\n'), data...))
	return err
}

// ReadRecord returns what [WriteRecord] wrote; nil where there is nothing, or where a byte of it is other than it was.
func ReadRecord(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(rest)
	if !bytes.Equal(first, hex.AppendEncode(nil, sum[:])) {
		return nil
	}
	return rest
}
