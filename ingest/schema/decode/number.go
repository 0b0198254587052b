package decode

import "strconv"

// pow10 holds the powers of ten that a float64 represents exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
	1e21, 1e22,
}

// parseFloat reads a JSON number at the start of b and returns the nearest float64 and its length; length 0 means
// that no number is there. A mantissa below 2^53 with a small exponent needs one exact division or multiplication
// (Clinger 1990); strconv parses the rest exactly.
func parseFloat(b []byte) (float64, int) {
	i, neg := 0, false
	if len(b) > 0 && b[0] == '-' {
		neg, i = true, 1
	}
	start := i
	var m uint64
	for i < len(b) && b[i]-'0' < 10 {
		m = m*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	if digits == 0 || (digits > 1 && b[start] == '0') {
		return 0, 0
	}
	exp := 0
	if i < len(b) && b[i] == '.' {
		i++
		frac := i
		for i < len(b) && b[i]-'0' < 10 {
			m = m*10 + uint64(b[i]-'0')
			i++
		}
		if i == frac {
			return 0, 0
		}
		exp = frac - i
		digits += i - frac
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		n, ok := parseExponent(b[i+1:])
		if !ok {
			return 0, 0
		}
		i += 1 + n
		digits = 99 // strconv combines the exponents
	}
	if digits <= 19 && m < 1<<53 && exp >= -22 {
		v := float64(m) / pow10[-exp]
		if neg {
			v = -v
		}
		return v, i
	}
	v, _ := strconv.ParseFloat(string(b[:i]), 64) // out of range it is infinite, which callers treat as not finite
	return v, i
}

// parseExponent returns the length of an exponent's sign and digits.
func parseExponent(b []byte) (int, bool) {
	i := 0
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i, i > start
}
