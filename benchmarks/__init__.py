"""Side-by-side measurements that anyone can run; they report ratios, since times depend on the machine."""
