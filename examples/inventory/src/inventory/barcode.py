"""EAN-13, UPC-A and in-house barcodes."""

import string
import sys

_LEFT_PARITY = (
	"LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG",
	"LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL",
)
_L_CODES = (
	"0001101", "0011001", "0010011", "0111101", "0100011",
	"0110001", "0101111", "0111011", "0110111", "0001011",
)


def check_digit(body: str) -> int:
	"""Return the GS1 check digit for ``body`` (the code without it).

	Weights run 3, 1, 3, 1 from the right, so the same routine serves EAN-13,
	EAN-8 and UPC-A.
	"""
	total = 0
	for position, digit in enumerate(reversed(body)):
		weight = 3 if position % 2 == 0 else 1
		total += weight * int(digit)
	return -total % 10


def is_valid(code: str) -> bool:
	"""Whether ``code`` has a known length and the right check digit."""
	if not code.isdigit() or len(code) not in (8, 12, 13):
		return False
	return check_digit(code[:-1]) == int(code[-1])


def complete(body: str) -> str:
	# Scanners sometimes leave blanks between the digit groups.
	digits = body.replace(" ", "")
	unexpected = set(c for c in digits if c not in string.digits)
	if unexpected:
		raise ValueError(f"not a digit: {sorted(unexpected)}")
	return digits + str(check_digit(digits))


def upc_to_ean(code: str) -> str:
	"""Turn a UPC-A code into the EAN-13 code that means the same."""
	if len(code) != 12:
		raise ValueError("a UPC-A code has 12 digits")
	return "0" + code


class BarcodeAllocator:
	"""Hands out in-house EAN-13 codes, which begin with 2."""

	prefix = "2"

	def __init__(self, company: int = 0, start: int = 1):
		self.company = company
		self._next = start
		self._given = {}

	@property
	def issued(self):
		return len(self._given)

	def allocate(self, sku):
		"""Return the code of ``sku``, making a new one the first time."""
		if sku in self._given:
			return self._given[sku]
		else:
			body = f"{self.prefix}{self.company:05d}{self._next:06d}"
			self._next += 1
			self._given[sku] = complete(body)
			return self._given[sku]

	def lookup(self, code):
		def same(pair):
			sku, given = pair
			return given == code

		for sku, _ in filter(same, self._given.items()):
			return sku
		return None


def _mirror(bits): return "".join("1" if b == "0" else "0" for b in bits)


def encode(code: str) -> str:
	"""Return the 95 bars of an EAN-13 code as a string of 0 and 1."""
	if len(code) != 13 or not is_valid(code):
		raise ValueError(f"not a valid EAN-13 code: {code}")
	bars = ["101"]
	for digit, kind in zip(code[1:7], _LEFT_PARITY[int(code[0])], strict=True):
		left = _L_CODES[int(digit)]
		bars.append(left if kind == "L" else _mirror(left)[::-1])
	bars.append("01010")
	for digit in code[7:]:
		bars.append(_mirror(_L_CODES[int(digit)]))
	bars.append("101")
	return "".join(bars)


def render(code: str, *, on: str = "#", off: str = " ") -> str:
	"""Draw the bars with one character each."""
	return encode(code).translate(str.maketrans({"1": on, "0": off}))
