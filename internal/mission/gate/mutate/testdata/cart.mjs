#!/usr/bin/env node
'use strict'
import { a, b } from './x.js'
const fs = require('fs')

const LIMIT = 10
const table = {
  one: 1,
  'two': [2, 3],
}

export class Cart extends Base {
  #items = []
  rate = 0.2

  constructor(items) {
    super()
    this.items = items ?? []
  }

  get size() { return this.items.length }

  async add(item, count = 1) {
    if (item === null || count <= 0) {
      throw new Error('count must be positive')
    }
    console.log('adding', item)
    for (let i = 0; i < count; i++) {
      this.items.push(item)
    }
    if (!this.strict && this.items.includes(item)) return false
    this.total += count * 2
    count--
    switch (item) {
      case 'a':
        this.x = 1
        break
      default:
        this.reset()
    }
    return `${item}-${count}`
  }
}

export const total = (values, tax) => {
  let result = values
    .map(v => v * 2)
    .reduce((a, b) => a + b, 0)
  if (tax)
    result = result + result * tax
  else if (values.length >= LIMIT) {
    result -= 5
  }
  return result > 3 ? 'many' : "few"
}

function helper(x) {
  return { value: x, ok: true }
}

if (import.meta.vitest) {
  const { it, expect } = import.meta.vitest
  it('adds', () => {
    expect(total([1, 2])).toBe(3)
    expect(total([1])).not.toEqual(5)
    assert.strictEqual(total([], 2), 'few', 'message text')
  })
}
