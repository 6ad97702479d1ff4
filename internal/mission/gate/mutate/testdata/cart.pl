#!/usr/bin/perl
use strict;
use warnings;

my $limit = 10;
my %prices = (a => 1, b => 2);

sub add {
    my ($self, $item, $count) = @_;
    if (!defined $item || $count <= 0) {
        die "bad count";
    }
    for my $i (1 .. $count) {
        push @{$self->{items}}, $item;
    }
    $self->{total} += $count * 2;
    return 0 unless $item eq 'a';
    while ($count > 0) {
        $count--;
        last if $count == 3;
    }
    warn "added $item";
    return $self->{total} + 1;
}

is(add({}, 'a', 2), 5, 'adds') if @ARGV > 3;
ok(add({}, 'b', 1) == 0, 'other') if @ARGV > 4;
sub is { return $_[0] == $_[1] }
sub ok { return shift }
1;
