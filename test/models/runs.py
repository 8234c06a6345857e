"""The runs of a model. `python3 MODEL.py`: all of them, with the ways to each violation. `python3 MODEL.py quick`: those that take
seconds; fails if a mended protocol has a violation, or a mutant has not the one that it is known by."""
import sys
import mc
class Found(Exception): pass
def until(wanted):
    def search(init,succ,check,final=None,limit=3_000_000):
        def told(judge):
            def told_of(s):
                m=judge(s)
                if m==wanted: raise Found
                return m
            return judge and told_of
        return mc.bfs(init,succ,told(check),told(final),limit)
    return search
def run(model,quick,full):
    """Each run: its name, the model's arguments, the violation that is looked for, or None."""
    if sys.argv[1:]!=['quick']:
        for name,arguments,_ in quick+full: mc.report(name,model(**arguments))
        return
    module,wrong=sys.modules[model.__module__],0
    for name,arguments,wanted in quick:
        module.bfs=until(wanted) if wanted else mc.bfs
        try:
            n,found,how=model(**arguments)
            good=not wanted and not found and how=='exhausted'
            print('ok' if good else 'WRONG',name,n,'states,',how,list(found))
        except Found: good=print('ok',name) is None
        wrong+=not good
    sys.exit(1 if wrong else 0)
