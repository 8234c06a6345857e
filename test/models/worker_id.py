# A lease of a small number: ephemeral ids/<n>, persistent last/<n> = R, the end of the time stamps that its owner may use
# (exclusive). One number, owners 0..n-1 (a restart is another owner). True time in ticks; a wall clock is off by -e..e and
# may be set. A session lives at the servers at least T after they have heard of it; its client counts from the sending.
from mc import bfs
from runs import run
from collections import namedtuple
S=namedtuple('S','now node last P net lost steps kills ops opd bad')   # node: owner; last: (R, version, whose)
P=namedtuple('P','ph off V heard R v frm lo hi go')
def model(n=2, T=2, A=4, H=7, e=1, lost=1, strays=1, steps=1, kills=1, opd=0, reserve='ahead', wait=True, versioned=True,
          drain=True, pause=True, limit=1_500_000):
    """reserve: ahead | none (the lease alone) | after (last used is written after use); pause: between the check of the
    lease and the clock's reading; drain: release waits for what has passed the check"""
    init=S(0,None,(0,0,None),tuple(P('off',o,None,None,None,None,None,None,None,False) for o in ((e,-e,0)+(0,)*n)[:n]),(),0,0,0,0,0,'')
    def put(s,i,**k):
        l=list(s.P); l[i]=l[i]._replace(**k)
        if l[i].ph in('dead','end'): l[i]=P(l[i].ph,0,-9,l[i].heard,None,None,None,l[i].lo,l[i].hi,l[i].go)
        return s._replace(P=tuple(l))
    def tick(s):   # what lies in the past is all alike
        now=s.now+1
        return s._replace(now=now,P=tuple(p._replace(V=p.V if p.V is None or p.V>now else -9,heard=p.heard if p.heard is None or p.heard+T>now else -9) for p in s.P))
    def run(s,r):
        kind,i,R,v=r
        p=s.P[i]
        if p.heard is None: return s,'expired'
        if kind!='ext' or versioned:
            if s.last[1]!=v: return s,'bad version'
        if kind=='acq':
            if s.node is not None: return s,'exists'
            return s._replace(node=i,last=(R,v+1,i)),'ok'
        if s.node is None: return s,'no node'
        if kind=='rel': return s._replace(node=None,last=(R,v+1,i)),'ok'
        return s._replace(last=(R,s.last[1]+1,i)),'ok'
    def use(s,i,ts):
        p=s.P[i]; lo=ts if p.lo is None else min(p.lo,ts); hi=ts if p.hi is None else max(p.hi,ts)
        t=put(s,i,lo=lo,hi=hi,go=False)
        for j,q in enumerate(t.P):
            if j!=i and q.lo is not None and q.lo<=hi and lo<=q.hi: return t._replace(bad='time stamps of two owners overlap')
        return t
    def succ(s):
        out=[]
        if s.now<H: out.append(('tick',tick(s)))
        for r in set(s.net):
            l=list(s.net); l.remove(r); t,res=run(s,r)
            if res=='ok' : out.append((f'late {r}: {res}',t._replace(net=tuple(l))))
        if s.opd<opd and s.node is not None: out.append(('operator deletes ids/n',s._replace(node=None,opd=s.opd+1)))
        for i,p in enumerate(s.P):
            def go(l,t): out.append((f'[{s.now}] {i} {l}',t))
            w=s.now+p.off
            if p.heard is not None and s.now>=p.heard+T:
                t=put(s,i,heard=None)
                go("'s session ends at the servers",t._replace(node=None) if s.node==i else t)
            if s.steps<steps and p.ph not in('off','dead','end'):
                for o in range(-e,e+1):
                    if o!=p.off: go(f'clock is set to {o:+}',put(s,i,off=o)._replace(steps=s.steps+1))
            if p.ph=='off': 
                if i==0 or s.P[i-1].ph!='off': go('makes a session',put(s,i,ph='out',heard=s.now,V=s.now+T))
                continue
            if p.ph in('dead','end'): continue
            if s.kills<kills: go('is killed',put(s,i,ph='dead',go=False)._replace(kills=s.kills+1))
            if p.heard is None and not p.go: go('hears that its session is over',put(s,i,ph='end')); 
            alive=p.heard is not None
            def send(r,ok,bad,doubt):
                if not alive: return
                t,res=run(s,r)
                go(f'{r}: {res}',ok(put(t,i,heard=s.now,V=s.now+T)) if res=='ok' else put(s,i,ph=bad,heard=s.now))
                if s.lost<lost:
                    if res=='ok': go(f'{r}: {res}, reply lost',put(t,i,ph=doubt,heard=s.now)._replace(lost=s.lost+1))
                    if len(s.net)<strays: go(f'{r}: strays',put(s,i,ph=doubt)._replace(lost=s.lost+1,net=s.net+(r,)))
            if p.ph=='out':
                if alive and s.node is None and (w>=s.last[0] or not wait or reserve!='ahead'): go(f'reads last {s.last}',put(s,i,ph='read',frm=s.last[0],v=s.last[1]))
            elif p.ph=='read':
                R=max(w,p.frm)+A if reserve=='ahead' else p.frm
                send(('acq',i,R,p.v),lambda t:put(t,i,ph='own',R=R,v=p.v+1,frm=p.frm),'out','adoubt')
            elif p.ph=='adoubt':
                if alive:
                    if s.last[1]==p.v and s.node is None: go('looks: not done: again',put(s,i,ph='read'))
                    elif s.node==i and s.last[1]==p.v+1: go('looks: done',put(s,i,ph='own',R=s.last[0],v=p.v+1))
                    else: go('looks: another',put(s,i,ph='out'))
            elif p.ph in('own','xdoubt'):
                if s.now<p.V and not p.go: go('checks its lease',put(s,i,go=True))
                if p.go and (pause or s.now<p.V):
                    lo=p.frm if wait and reserve!='none' else -9
                    lo=max(lo,p.hi if p.hi is not None else -9)
                    hi=p.R if reserve=='ahead' else 99
                    if lo<=w<hi: go(f'uses time stamp {w}',use(s,i,w))
                    else: go('cannot use this time stamp',put(s,i,go=False))
                if s.now>=p.V and not p.go: go('notices that its lease is over',put(s,i,ph='end'))
                if p.ph=='own':
                    m=max(w,p.hi) if p.hi is not None else w
                    if reserve=='ahead' and p.R-w<A-1: send(('ext',i,max(p.R,m+A),p.v),lambda t:put(t,i,R=max(p.R,m+A),v=p.v+1),'end','xdoubt')
                    if reserve=='after' and p.hi is not None and s.last[0]<=p.hi: send(('ext',i,p.hi+1,p.v),lambda t:put(t,i,v=p.v+1),'end','xdoubt')
                    if reserve=='none' and s.now>=p.V-1: go('proves its session',put(s,i,heard=s.now,V=s.now+T)) if alive else None
                    if reserve!='none' and not(drain and p.go) and s.ops<1: 
                        R=p.hi+1 if p.hi is not None else p.frm
                        send(('rel',i,R,p.v),lambda t:put(t,i,ph='end' if drain else 'own',V=t.now if drain else t.P[i].V)._replace(ops=s.ops+1),'end','end')
                elif alive:
                    if s.last[1]==p.v and s.node==i: go('looks: not extended: again',put(s,i,ph='own'))
                    elif s.last[1]==p.v+1 and s.last[2]==i: go('looks: extended',put(s,i,ph='own',R=s.last[0],v=p.v+1))
                    else: go('looks: lost',put(s,i,ph='end'))
        return out
    def check(s):
        if s.bad: return s.bad
        if not opd and sum(p.ph in('own','xdoubt') and s.now<p.V for p in s.P)>1: return 'two believe that they own n'
    return bfs(init,succ,check,None,limit)
TWICE='time stamps of two owners overlap'
# name, arguments, the violation that is looked for
QUICK=[('W1 the lease alone: clocks differ, no pause',dict(reserve='none',pause=False,steps=0,lost=0,kills=0,limit=400_000),TWICE),
     ('W2 the lease alone, clocks exact: paused between check and use',dict(reserve='none',e=0,steps=0,lost=0,kills=0,limit=400_000),TWICE),
     ('W3 last used is written after use',dict(reserve='after',steps=0,lost=0,kills=0,limit=400_000),TWICE),
     ('W4 reserved ahead, the new owner does not wait',dict(wait=False,steps=0,lost=0,kills=0,limit=400_000),TWICE),
     ('W5 extension without a version, an operator deletes ids/n',dict(versioned=False,steps=0,kills=0,lost=0,opd=1,H=5,e=0,A=3,limit=400_000),TWICE),
     ('W6 release lowers R while an id is being made',dict(drain=False,steps=0,lost=0,kills=0,limit=400_000),TWICE),
     ('V4 reserved ahead, a reply is lost',dict(H=4,A=3,strays=1,lost=1,steps=0,kills=0,e=0),None),
     ('V5 the same, an operator deletes ids/n',dict(H=5,opd=1,kills=0,lost=0,steps=0,e=0,A=3),None)]
FULL=[('V1 reserved ahead, a reply is lost, a kill',dict(H=5,A=3,strays=1,lost=1,steps=0,kills=1),None),
     ('V3 the same, a clock is set, no kill, nothing lost',dict(H=6,steps=1,kills=0,lost=0),None),
     ('V2 the same, an operator deletes ids/n',dict(H=6,opd=1,kills=0,lost=0,steps=0),None)]
if __name__=='__main__': run(model,QUICK,FULL)
