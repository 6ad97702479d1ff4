package defense

// weakened tells whether the program was built with the overlay of package
// weaken, which replaces this file.
const weakened = false
