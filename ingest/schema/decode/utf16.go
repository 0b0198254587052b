package decode

import (
	"encoding/binary"
	"unicode/utf16"
)

// utf16Order is the byte order of a text in UTF-16, as PowerShell's > writes it: by its mark, or by the zeros beside
// ASCII letters. nil for any other.
func utf16Order(head []byte) binary.ByteOrder {
	if len(head) < 4 {
		return nil
	}
	switch {
	case head[0] == 0xff && head[1] == 0xfe && head[2] != 0:
		return binary.LittleEndian
	case head[0] == 0xfe && head[1] == 0xff:
		return binary.BigEndian
	}
	low, high, n := 0, 0, min(len(head), 256)/2
	for i := range n {
		if head[2*i] == 0 && head[2*i+1] != 0 {
			high++
		}
		if head[2*i+1] == 0 && head[2*i] != 0 {
			low++
		}
	}
	switch {
	case n >= 8 && low >= n-1:
		return binary.LittleEndian
	case n >= 8 && high >= n-1:
		return binary.BigEndian
	}
	return nil
}

// fromUTF16 is a text as UTF-8, without a byte order mark.
func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	if len(units) > 0 && units[0] == 0xfeff {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units)))
}
