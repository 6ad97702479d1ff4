import type { Item } from './item'
export interface Options {
  limit?: number
  kind: 'a' | 'b'
}
export type Pair<K, V> = { key: K; value: V } | null
type Id = string | 3
enum Color { Red = 1, Green = 2 }

const defaults: Options = { limit: 10, kind: 'a' }

@Injectable({ scope: 'x' })
export class Cart<T extends Item = Item> {
  private items: Map<string, T[]> = new Map()
  readonly size!: number

  constructor(private readonly owner: string, protected total = 0) {
    this.total = total
  }

  add(item: T, count: number = 1): Array<T> {
    if (count < 1 || item.price! > 100) {
      throw new RangeError(`bad ${count}`)
    }
    const list = this.items.get(item.id) ?? []
    for (const each of list) {
      if (each === item) continue
      list.push(each as unknown as T)
    }
    let i: number = 0
    do {
      i++
    } while (i < count)
    this.total += item.price * count
    return list.filter((x): x is T => x !== null && !x.hidden)
  }

  get empty(): boolean {
    return this.total === 0
  }
}

export async function load<T>(url: string, retries = 3): Promise<Pair<string, T>> {
  const response = await fetch(url + '?x=1')
  if (!response.ok) return null
  return { key: url, value: (await response.json()) as T }
}

export const double = (x: number): number => x * 2
