#!/usr/bin/env bats

@test "adds" {
  run add a 2
  [ "$status" -eq 0 ]
  [ "$output" = "other a" ]
  assert_output "x"
}
